// SPDX-License-Identifier: Apache-2.0
// Faults found in engines that the verifier was not built for, planted after its models were written. An empty list of
// names means that no fault of the catalogue is right; the fault must be caught nevertheless.
#include "doctor/mutants/engines.h"
#include "doctor/mutants/lists.h"

namespace mutants {
namespace {

using locus::AttendRequest;
using locus::RotateRequest;
using std::int64_t;
using Strings = std::vector<std::string>;

void pages_and_caches(List& list) {
  const Attention plain = half().plain;
  const auto add = [&](const std::string& name, const Strings& faults, const std::function<void(OwnedCall&)>& change) {
    list.attend(
        "paging", name, half(),
        [plain, change](const AttendRequest& r) {
          OwnedCall call(r);
          change(call);
          plain(call.pointed());
        },
        faults);
  };
  const auto ragged = [](const OwnedCall& call) { return !call.mask.empty() || !call.key_boundaries.empty(); };
  for (const int64_t page : {16, 128}) {
    const std::string size = ", pages of " + std::to_string(page);
    add("the tail of the last page holds garbage" + size, {}, [=](OwnedCall& call) {
      if (ragged(call)) return;
      const std::vector<float> garbage(call.row(), 0.5f);
      for (int64_t rest = (page - call.request.keys % page) % page; rest > 0; --rest) call.append_key(garbage, garbage);
    });
    add("the tail of the last page holds the page before" + size, {}, [=](OwnedCall& call) {
      if (ragged(call) || call.request.keys <= page) return;
      const std::size_t row = call.row();
      for (int64_t t = call.request.keys; t % page != 0; ++t) {
        const std::size_t from = index(t - page) * row;
        const std::vector<float> k(call.key.begin() + static_cast<std::ptrdiff_t>(from),
                                   call.key.begin() + static_cast<std::ptrdiff_t>(from + row));
        const std::vector<float> v(call.value.begin() + static_cast<std::ptrdiff_t>(from),
                                   call.value.begin() + static_cast<std::ptrdiff_t>(from + row));
        call.append_key(k, v);
      }
    });
  }
  for (const int64_t slots : {256, 1024}) {
    Attention ring = plain;
    ring.key_slot = ring.value_slot = [=](const AttendRequest& r, int64_t j) {
      while (j + slots < r.keys) j += slots;
      return j;
    };
    list.attend("paging", "a ring of " + std::to_string(slots) + " slots", half(), ring, {"ring_overwritten"});
  }
  // The slot of a new token is the number of tokens, rounded to the page when a fork was made.
  for (const bool keys : {true, false}) {
    Attention stored = plain;
    list.attend(
        "precision", keys ? "keys kept in bfloat16" : "values kept in eight bits", half(),
        [stored, keys](const AttendRequest& r) {
          std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end()),
              v(r.value.begin(), r.value.end());
          stored.rope.rotate(q.data(), r.heads, r.query_ids, Attention::place(r, false));
          stored.rope.rotate(k.data(), r.key_heads, r.key_ids, Attention::place(r, true));
          if (keys) {
            for (float& x : k) x = bf16(x);
          } else {
            for (float& x : v) x = std::round(x * 60.0f) / 60.0f;
          }
          stored.attend(r, q, k, v);
        },
        keys ? Strings{"bfloat16_keys"} : Strings{});
  }
  for (const int64_t page : {16, 64}) {
    Attention late = plain;
    late.rope.id = [=](const Where& w, int64_t p) {
      return w.token > 0 && (w.token + w.first) % page == 0 ? w.ids[w.token - 1] : p;
    };
    list.attend("ids", "the id of the token before at the start of a page of " + std::to_string(page), half(), late,
                {"positions_of_neighbours"});
  }
  Attention fork = plain;
  fork.rope.times = [](const Where& w, int64_t, int64_t) {
    static thread_local int64_t child = -1;
    if (w.attend->forked_from >= 0) child = w.attend->sequence;
    return w.key && w.attend->sequence == child && w.token < w.attend->cached ? 2 : 1;
  };
  list.attend("paging", "cached keys turned again after a fork", half(), fork, {"cached_rotated_twice"});
}

void tables_that_grow(List& list) {
  const auto add = [&](const std::string& name, const Strings& faults, const std::function<void(Rope&)>& change) {
    Pair pair = half();
    change(pair.plain.rope);
    list.rotate("tables", name, pair, pair.plain.rope, faults);
    list.attend("tables", name, pair, pair.plain, faults);
  };
  for (const int64_t rows : {128, 2048}) {
    const std::string size = std::to_string(rows) + " rows";
    add("rows beyond the first " + size + " start again", {"positions_wrapped", "positions_reset"},
        [=](Rope& r) { r.id = [=](const Where&, int64_t p) { return p < rows ? p : p - rows; }; });
    add("rows beyond the first " + size + " have another base", {}, [=](Rope& r) {
      r.angle = [=](double p, double w) {
        const double other = w == 1 ? 1 : std::pow(w, 1.05);
        const long double turns = static_cast<long double>(p) *
                                  static_cast<long double>(p < static_cast<double>(rows) ? w : other) /
                                  6.283185307179586476925286766559L;
        return static_cast<double>((turns - std::floor(turns)) * 6.283185307179586476925286766559L);
      };
    });
  }
  add("position times 32 in 32 bits", {"positions_wrapped"}, [](Rope& r) {
    r.id = [](const Where&, int64_t p) {
      return static_cast<int64_t>(static_cast<std::int32_t>(static_cast<std::uint32_t>(p) * 32u)) / 32;
    };
  });
  add("ids as int16", {"positions_wrapped"}, [](Rope& r) {
    r.id = [](const Where&, int64_t p) { return static_cast<int64_t>(static_cast<std::int16_t>(p)); };
  });
  const Pair pair = half();
  list.rotate("ids", "ids as float32", pair,
              [] {
                Rope r;
                r.id = [](const Where&, int64_t p) { return static_cast<int64_t>(static_cast<float>(p)); };
                return r;
              }(),
              {"float32_angles"});
  // Computes cos and sin from the previous row by the addition theorem in float32: errors accumulate.
  const auto drift = [](const RotateRequest& r) {
    for (int64_t t = 0; t < r.tokens; ++t) {
      if (r.ids[index(t)] < 0 || r.ids[index(t)] > 5000) throw std::out_of_range("the table ends");
      for (int64_t i = 0; i < 8; ++i) {
        const std::complex<float> step(unit_turn(1, i, 16, 1e4));
        std::complex<float> z = 1;
        for (int64_t p = 0; p < r.ids[index(t)]; ++p) z *= step;
        for (int64_t h = 0; h < r.heads; ++h) {
          float* x = r.data.data() + (t * r.heads + h) * 16;
          const std::complex<float> y = std::complex<float>(x[i], x[i + 8]) * z;
          x[i] = y.real();
          x[i + 8] = y.imag();
        }
      }
    }
  };
  list.add("precision", "rotate: rows by the addition theorem", pair, {},
           [encoding = pair.encoding, drift] { return locus::verify_rotate(encoding, drift); });
  for (const int64_t entries : {1024, 65536}) {
    Rope coarse;
    coarse.table = [=](const Where&, int64_t, double& c, double& s) {
      const double step = 6.283185307179586 / static_cast<double>(entries);
      const double angle = std::round(std::atan2(s, c) / step) * step;
      c = std::cos(angle);
      s = std::sin(angle);
    };
    list.rotate("precision", "cos and sin of " + std::to_string(entries) + " angles", pair, coarse, {});
  }
}

// Wrong formulas for one pair.
void pairs(List& list) {
  const auto add = [&](const std::string& name, const Strings& faults,
                       const std::function<void(float c, float s, float& x, float& y)>& turn) {
    const Pair pair = half();
    const auto rotate = [turn](float* data, int64_t heads, std::span<const int64_t> ids) {
      for (std::size_t t = 0; t < ids.size(); ++t) {
        for (int64_t i = 0; i < 8; ++i) {
          const std::complex<float> z(unit_turn(ids[t], i, 16, 1e4));
          for (int64_t h = 0; h < heads; ++h) {
            float* x = data + (static_cast<int64_t>(t) * heads + h) * 16;
            turn(z.real(), z.imag(), x[i], x[i + 8]);
          }
        }
      }
    };
    list.add("pairing", "rotate: " + name, pair, faults, [encoding = pair.encoding, rotate] {
      return locus::verify_rotate(encoding,
                                  [rotate](const RotateRequest& r) { rotate(r.data.data(), r.heads, r.ids); });
    });
    list.attend(
        "pairing", name, pair,
        [rotate, plain = pair.plain](const AttendRequest& r) {
          std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end()),
              v(r.value.begin(), r.value.end());
          rotate(q.data(), r.heads, r.query_ids);
          rotate(k.data(), r.key_heads, r.key_ids);
          plain.attend(r, q, k, v);
        },
        faults);
  };
  add("x is overwritten before y is made", {"overwritten_in_place"}, [](float c, float s, float& x, float& y) {
    x = x * c - y * s;
    y = x * s + y * c;
  });
  add("y is overwritten before x is made", {"overwritten_in_place"}, [](float c, float s, float& x, float& y) {
    y = x * s + y * c;
    x = x * c - y * s;
  });
  add("a sign lost in x", {"product_sign"}, [](float c, float s, float& x, float& y) {
    const float u = x;
    x = u * c + y * s;
    y = u * s + y * c;
  });
  add("a sign too many in y", {"product_sign"}, [](float c, float s, float& x, float& y) {
    const float u = x;
    x = u * c - y * s;
    y = u * s - y * c;
  });
}

void masks_and_windows(List& list) {
  const Pair pair = half();
  for (const int64_t window : {64, 1024}) {
    const auto add = [&](const std::string& name,
                         const std::function<bool(const AttendRequest&, int64_t, int64_t)>& inside) {
      Attention plain = pair.plain;
      plain.mask = [inside](const AttendRequest& r, int64_t i, int64_t j, bool) {
        AttendRequest other = r;
        other.window = 0;
        return Attention::sees(other, i, j) && inside(r, i, j);
      };
      list.attend("masks", name + ", window " + std::to_string(window), pair, plain, {"window_wrong"},
                  {.window = window});
    };
    add("window from the first query of a call",
        [](const AttendRequest& r, int64_t, int64_t j) { return r.key_ids[index(j)] > r.query_ids[0] - r.window; });
    add("whole pages of 16 fall out", [](const AttendRequest& r, int64_t i, int64_t j) {
      const int64_t first = std::max<int64_t>(r.query_ids[index(i)] - r.window + 1, -1000);
      return r.key_ids[index(j)] >= (first < 0 ? first : first / 16 * 16);
    });
    add("blocks as long as the window", [](const AttendRequest& r, int64_t i, int64_t j) {
      return r.key_ids[index(j)] / r.window == r.query_ids[index(i)] / r.window;
    });
  }
  const auto add = [&](const std::string& site, const std::string& name, const Strings& faults,
                       const std::function<bool(const AttendRequest&, int64_t, int64_t, bool)>& mask) {
    Attention plain = pair.plain;
    plain.mask = mask;
    list.attend(site, name, pair, plain, faults);
  };
  add("masks", "chunks are masked as if they were first", {"mask_from_the_first_key"},
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return r.cached > 0 && r.queries > 1 ? seen && j <= i : seen;
      });
  add("masks", "one query of a call sees what the last one sees", {},
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return i == 0 ? seen || (r.queries > 1 && Attention::sees(r, 1, j)) : seen;
      });
  add("masks", "a tile is skipped if its first key is not seen", {},
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        const int64_t first = j / 32 * 32;
        return seen && (first == j || !r.key_boundaries.empty() || Attention::sees(r, i, first) || r.key_mask.empty());
      });
  add("packing", "the second document starts one later", {"document_boundary_off_by_one"},
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        if (r.key_boundaries.size() < 3) return seen;
        AttendRequest other = r;
        std::vector<int64_t> keys(r.key_boundaries.begin(), r.key_boundaries.end());
        keys[1] += 1;
        other.key_boundaries = keys;
        return Attention::sees(other, i, j);
      });
  add("packing", "queries are looked up among the keys' boundaries", {"documents_seen"},
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        if (r.key_boundaries.empty()) return seen;
        AttendRequest other = r;
        other.query_boundaries = r.key_boundaries;
        return Attention::sees(other, i, j);
      });
  add("packing", "every document as long as the longest", {},
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        if (r.key_boundaries.empty()) return seen;
        int64_t longest = 1;
        for (std::size_t d = 1; d < r.key_boundaries.size(); ++d)
          longest = std::max(longest, r.key_boundaries[d] - r.key_boundaries[d - 1]);
        AttendRequest other = r;
        other.key_boundaries = other.query_boundaries = {};
        return Attention::sees(other, i, j) && j / longest == (r.queries == r.keys          ? i
                                                               : r.query_boundaries.empty() ? i
                                                                                            : j) /
                                                                  longest;
      });
  TiledAttention weak;
  weak.hidden_score = -10.0f;
  weak.tile = 100'000;
  list.attend("masks", "what is hidden gets a score of -10", pair, weak, {"mask_too_weak"});
  Attention lowered = pair.plain;
  lowered.mask = [](const AttendRequest&, int64_t, int64_t, bool) { return true; };
  const auto lower = [lowered](const AttendRequest& r) {
    // Scores of masked keys are lowered by 5, as a bias that sees ids; only plain calls show the difference.
    Attention own = lowered;
    if (!r.key_boundaries.empty() || !r.key_mask.empty()) own.mask = {};
    own.bias = [](int64_t, int64_t q, int64_t k) { return k > q ? -5.0 : 0.0; };
    own(r);
  };
  list.attend("masks", "what is hidden is lowered by 5", pair, lower, {"mask_too_weak"});
}

void scores_and_sums(List& list) {
  const Pair pair = half();
  const auto add = [&](const std::string& name, const Strings& faults, const std::function<void(Attention&)>& change) {
    Attention plain = pair.plain;
    change(plain);
    list.attend("merging", name, pair, plain, faults);
  };
  // Equal to keys of half the length.
  add("scale of a head of 64", {"softmax_scale", "magnitude_wrong"}, [](Attention& a) { a.scale = 1.0 / 8; });
  add("scale 0.9 of it", {"softmax_scale"}, [](Attention& a) { a.scale = 0.9 / 4; });
  add("half a sink in the sum", {"softmax_sum"}, [](Attention& a) { a.extra_in_sum = 0.5; });
  // Adds the value of the first key, but not its weight to the sum.
  const auto first_lost = [plain = pair.plain](const AttendRequest& r) {
    std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end());
    plain.rope.rotate(q.data(), r.heads, r.query_ids, Attention::place(r, false));
    plain.rope.rotate(k.data(), r.key_heads, r.key_ids, Attention::place(r, true));
    for (int64_t i = 0; i < r.queries; ++i) {
      for (int64_t h = 0; h < r.heads; ++h) {
        const int64_t kh = h / (r.heads / r.key_heads);
        double sum = 0, out[16] = {};
        bool first = true;
        for (int64_t j = 0; j < r.keys; ++j) {
          if (!Attention::sees(r, i, j)) continue;
          double score = 0;
          for (int64_t c = 0; c < 16; ++c)
            score += static_cast<double>(q[index((i * r.heads + h) * 16 + c)]) *
                     static_cast<double>(k[index((j * r.key_heads + kh) * 16 + c)]);
          const double weight = std::exp(score / 4);
          if (!first) sum += weight;
          first = false;
          for (int64_t c = 0; c < 16; ++c)
            out[c] += weight * static_cast<double>(r.value[index((j * r.key_heads + kh) * 16 + c)]);
        }
        for (int64_t c = 0; c < 16; ++c) r.output[index((i * r.heads + h) * 16 + c)] = static_cast<float>(out[c] / sum);
      }
    }
  };
  list.attend("merging", "the first key is not in the sum", pair, first_lost, {"softmax_sum"});
  const auto changed_output = [&](const std::string& site, const std::string& name, const Strings& faults,
                                  const std::function<void(const AttendRequest&)>& change) {
    list.attend(
        site, name, pair,
        [plain = pair.plain, change](const AttendRequest& r) {
          plain(r);
          change(r);
        },
        faults);
  };
  changed_output("GQA", "output heads in reverse", {}, [](const AttendRequest& r) {
    for (int64_t i = 0; i < r.queries; ++i) {
      for (int64_t h = 0; h < r.heads / 2; ++h) {
        float* row = r.output.data() + i * r.heads * 16;
        std::swap_ranges(row + h * 16, row + h * 16 + 16, row + (r.heads - 1 - h) * 16);
      }
    }
  });
  changed_output("widths", "last coordinate of the output left at 0", {}, [](const AttendRequest& r) {
    for (std::size_t i = 15; i < r.output.size(); i += 16) r.output[i] = 0;
  });
  changed_output("merging", "the last row of a call is that of the one before", {}, [](const AttendRequest& r) {
    const int64_t row = r.heads * 16;
    if (r.queries > 1)
      std::copy_n(r.output.data() + (r.queries - 2) * row, row, r.output.data() + (r.queries - 1) * row);
  });
  list.attend("widths", "last coordinate not in the score", pair,
              [plain = pair.plain](const AttendRequest& r) {
                std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end()),
                    v(r.value.begin(), r.value.end());
                plain.rope.rotate(q.data(), r.heads, r.query_ids, Attention::place(r, false));
                plain.rope.rotate(k.data(), r.key_heads, r.key_ids, Attention::place(r, true));
                for (std::size_t i = 15; i < q.size(); i += 16) q[i] = 0;
                plain.attend(r, q, k, v);
              },
              {"coordinates_not_scored"});
  add("log-sum-exp to base 2", {"log_sum_exp_base"}, [](Attention& a) {
    a.fills_lse = true;
    a.lse_unit = 1.4426950408889634;
  });
  // Four equal parts, whatever the length.
  for (const bool averaged : {true, false}) {
    list.attend(
        "merging", averaged ? "four parts averaged" : "four parts added", pair,
        [plain = pair.plain, averaged](const AttendRequest& r) {
          Attention own = plain;
          own.part = (r.keys + 3) / 4;
          own.merge = averaged ? Attention::Merge::averaged : Attention::Merge::added;
          own(r);
        },
        averaged ? Strings{"parts_averaged"} : Strings{"parts_added"});
  }
  // In decode only.
  Pair large = magnified();
  Attention decode = large.plain;
  decode.rope.table = [](const Where& w, int64_t, double& c, double& s) {
    if (!w.decode()) return;
    c /= 1.25;
    s /= 1.25;
  };
  list.attend("tables", "magnitude missing in decode", large, decode, {"magnitude_missing"});
  using Map = std::function<int64_t(int64_t, int64_t, int64_t)>;
  const auto heads = [&](const std::string& name, const Strings& faults, const Map& map) {
    Attention plain = pair.plain;
    plain.key_head = plain.value_head = map;
    list.attend("GQA", name, pair, plain, faults);
  };
  heads("rounded up", {"group_size_wrong", "wrong_heads"},
        [](int64_t h, int64_t n, int64_t k) { return std::min((h * k + n - 1) / n, k - 1); });
  heads("values of a group in turn", {"heads_tiled"}, [](int64_t h, int64_t, int64_t k) { return h % k; });
}

}  // namespace

void plant_odd_ones(List& list) {
  pages_and_caches(list);
  tables_that_grow(list);
  pairs(list);
  masks_and_windows(list);
  scores_and_sums(list);
}

}  // namespace mutants
