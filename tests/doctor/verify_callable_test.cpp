// SPDX-License-Identifier: Apache-2.0
// Our kernels must pass as user functions; anything that is not the encoding must fail.
#include "locus/doctor/verify_callable.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "locus/attention.h"
#include "locus/error.h"
#include "locus/reference.h"
#include "locus/rotate.h"

namespace locus {
namespace {

void expect_all_pass(const std::vector<Check>& checks) {
  EXPECT_GE(checks.size(), 5u);
  for (const Check& check : checks) {
    EXPECT_TRUE(check.pass) << check.scheme << ": " << check.name << ": " << check.value << " against " << check.bound
                            << ": " << check.note;
    EXPECT_GE(check.bound, 0) << check.name;
  }
}

RotateFunction our_rotate(const Encoding& encoding) {
  return [&encoding](const RotateRequest& r) {
    const std::vector<std::int64_t> extents{r.tokens, r.heads, r.head_dim};
    rotate(encoding, heads_view(r.data.data(), ElementType::float32, "thd", extents),
           {encoding.rotation().axes, 1, r.tokens, {r.ids.begin(), r.ids.end()}}, r.role);
  };
}

AttendFunction our_attend(const Encoding& encoding) {
  return [&encoding](const AttendRequest& r) {
    std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end()),
        v(r.value.begin(), r.value.end());
    const std::vector<std::int64_t> query{r.queries, r.heads, r.head_dim}, key{r.keys, r.key_heads, r.head_dim};
    AttentionCall call{.query = heads_view(q.data(), ElementType::float32, "thd", query),
                       .key = heads_view(k.data(), ElementType::float32, "thd", key),
                       .value = heads_view(v.data(), ElementType::float32, "thd", key),
                       .output = heads_view(r.output.data(), ElementType::float32, "thd", query)};
    if (encoding.site() == Site::query_key) {
      rotate(encoding, call.query, {1, 1, r.queries, {r.query_ids.begin(), r.query_ids.end()}}, Role::query);
      rotate(encoding, call.key, {1, 1, r.keys, {r.key_ids.begin(), r.key_ids.end()}}, Role::key);
    }
    call.encoding = &encoding;
    call.query_ids = r.query_ids;
    call.key_ids = r.key_ids;
    call.query_boundaries = r.query_boundaries;
    call.key_boundaries = r.key_boundaries;
    call.mask.causal = true;
    call.mask.keys = r.key_mask;
    attend(call);
  };
}

std::vector<Encoding> rotations() {
  return {Encoding("rope", {{"head_dim", 64}, {"pairing", "half"}}),
          Encoding("rope", {{"head_dim", 16}, {"pairing", "interleaved"}, {"output_order", "deinterleaved"}}),
          Encoding("rope", {{"head_dim", 24}, {"pairing", "half"}, {"rotary_dim", 16}, {"rotary_offset", 4}}),
          Encoding("rope",
                   {{"head_dim", 16}, {"pairing", "half"}, {"rule", "yarn"}, {"factor", 4}, {"original_length", 4096}}),
          Encoding("rope", {{"head_dim", 16}, {"pairing", "half"}, {"profile", "hf"}, {"table_type", "bfloat16"}}),
          Encoding("rope", {{"head_dim", 16}, {"pairing", "half"}, {"profile", "ggml"}}),
          Encoding("xpos", {{"head_dim", 16}, {"pairing", "interleaved"}}),
          Encoding("xpos", {{"head_dim", 16}, {"pairing", "half"}, {"centre", 100}})};
}

TEST(VerifyRotate, PassesWhatIsRight) {
  for (const Encoding& encoding : rotations()) {
    for (const std::uint64_t seed : {1u, 2u}) expect_all_pass(verify_rotate(encoding, our_rotate(encoding), seed));
  }
  const Encoding sections(
      "rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "mrope"}, {"sections", std::vector<double>{2, 3, 3}}});
  expect_all_pass(verify_rotate(sections, our_rotate(sections)));
  const Encoding grid(
      "rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "dinov3"}, {"grid_height", 3}, {"grid_width", 5}});
  expect_all_pass(verify_rotate(grid, our_rotate(grid)));
}

TEST(VerifyAttend, PassesWhatIsRight) {
  std::vector<Encoding> all = rotations();
  for (const Scheme* scheme : schemes()) {
    // A function of queries, keys, values and ids gets no numbers from tokens, and its scores are sums over pairs.
    if (scheme->name == "forget_gate" || scheme->name == "cope") continue;
    if (scheme->site != Site::hidden) all.emplace_back(scheme->name, scheme->example);
  }
  for (const Encoding& encoding : all) expect_all_pass(verify_attend(encoding, our_attend(encoding)));
}

TEST(VerifyAttend, RefusesWhatAFunctionOfPairsCannotDo) {
  const Encoding gated("forget_gate", {{"heads", 2}}), counted("cope", {{"heads", 2}, {"head_dim", 4}});
  EXPECT_THROW(verify_attend(gated, our_attend(gated)), Error);
  EXPECT_THROW(verify_attend(counted, our_attend(counted)), Error);
}

// One encoding passed in place of another.
void expect_cause(const std::vector<Check>& checks, const std::string& cause) {
  EXPECT_GT(failed(checks), 0);
  for (const Check& check : checks) {
    if (!check.pass) {
      EXPECT_TRUE(check.note.ends_with("likely cause: " + cause)) << check.name << ": " << check.note;
    }
  }
}

TEST(VerifyRotate, NamesWhatIsWrong) {
  const Encoding half("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const Encoding interleaved("rope", {{"head_dim", 16}, {"pairing", "interleaved"}});
  expect_cause(verify_rotate(half, our_rotate(interleaved)), "wrong pairing");
  expect_cause(verify_rotate(interleaved, our_rotate(half)), "wrong pairing");
  expect_cause(verify_rotate(half, [](const RotateRequest&) {}), "positions not applied");
  const Encoding other_base("rope", {{"head_dim", 16}, {"pairing", "half"}, {"base", 5e5}});
  expect_cause(verify_rotate(half, our_rotate(other_base)), "another base (500000)");
  const Encoding xpos("xpos", {{"head_dim", 16}, {"pairing", "half"}});
  expect_cause(verify_rotate(xpos,
                             [&](RotateRequest r) {
                               r.role = r.role == Role::query ? Role::key : Role::query;
                               our_rotate(xpos)(r);
                             }),
               "query and key scales exchanged");
}

TEST(VerifyAttend, NamesWhatIsWrong) {
  const Encoding rope("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const Encoding t5("t5", {{"heads", 4}, {"bidirectional", false}, {"deviation", 1.0}});
  for (const Encoding* encoding : {&rope, &t5}) {
    const AttendFunction ours = our_attend(*encoding);
    const auto decode = verify_attend(*encoding, [&](AttendRequest r) {
      const std::vector<Position> moved{r.query_ids[0] + 1};
      if (r.queries == 1) r.query_ids = moved;
      ours(r);
    });
    expect_cause(decode, "off by one in decode");
    for (const Check& check : decode) {
      const bool whole = check.name == "prefill = exact" || check.name == "packed = exact";
      EXPECT_TRUE(check.pass || !whole) << check.note;
    }
  }
  // Relative schemes tolerate counted left padding; places in a window do not.
  const Encoding learned_places("relative_bias",
                                {{"heads", 4}, {"index", "swin"}, {"window_height", 3}, {"window_width", 4}});
  const AttendFunction ours = our_attend(learned_places);
  expect_cause(verify_attend(learned_places,
                             [&](AttendRequest r) {
                               std::vector<Position> counted;
                               for (std::int64_t i = 0; i < r.keys; ++i) counted.push_back(i);
                               if (!r.key_mask.empty()) r.query_ids = r.key_ids = counted;
                               ours(r);
                             }),
               "padding counted as positions");
}

// A cause is named only if it gives every observed number; otherwise the failed checks are listed with their errors.
TEST(VerifyCallable, NamesFaultsOfWhatAnEncodingDeclares) {
  const Arguments plain = {{"head_dim", 16}, {"pairing", "half"}};
  const auto with = [&](const std::string& scheme, const Arguments& more) {
    Arguments all = plain;
    for (const auto& [name, value] : more.all()) all.set(name, value);
    return Encoding(scheme, all);
  };
  const Encoding rope = with("rope", {});
  const Encoding tempered = with("rope", {{"temperature", "steps"}, {"temperature_length", 4}});
  const Encoding late = with("rope", {{"temperature", "steps"}, {"temperature_length", 4}, {"temperature_shift", 1}});
  expect_cause(verify_rotate(tempered, our_rotate(rope)), "temperature missing");
  expect_cause(verify_rotate(tempered, our_rotate(late)), "temperature off by one (p + 1 in place of p)");
  const Encoding mapped = with("offset_map", {{"map", "self_extend"}, {"window", 4}, {"group", 2}});
  expect_cause(verify_attend(mapped, our_attend(rope)), "offset map not applied");
}

TEST(VerifyRotate, AdmitsWhatItDoesNotKnow) {
  const Encoding half("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const auto checks = verify_rotate(half, [&](const RotateRequest& r) {
    our_rotate(half)(r);
    for (float& x : r.data) x = x * x * x;
  });
  EXPECT_GT(failed(checks), 0);
  for (const Check& check : checks) {
    if (check.pass) continue;
    EXPECT_NE(check.note.find("none of the known faults gives these numbers; off are \"prefill = exact\" by "),
              std::string::npos)
        << check.note;
  }
}

// Faults that no model of verify gives, but that diagnose finds in the arrays of a failed check.
TEST(VerifyRotate, NamesWhatDiagnoseTells) {
  const Encoding half("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const Encoding odd_base("rope", {{"head_dim", 16}, {"pairing", "half"}, {"base", 73000.0}});
  const auto checks = verify_rotate(half, our_rotate(odd_base));
  EXPECT_GT(failed(checks), 0);
  for (const Check& check : checks) {
    if (check.pass) continue;
    EXPECT_NE(check.note.find("likely cause: another base ("), std::string::npos) << check.name << ": " << check.note;
    EXPECT_NE(check.note.find("73000"), std::string::npos) << check.note;
  }
}

TEST(VerifyBias, NamesWhatDiagnoseTells) {
  const Encoding alibi("alibi", {{"heads", 8}});
  const auto checks = verify_bias(alibi, [&](const BiasRequest& r) {
    std::size_t i = 0;
    for (std::int64_t h = 0; h < r.heads; ++h) {
      for (const Position query : r.query_ids) {
        for (const Position key : r.key_ids)
          r.bias[i++] = static_cast<float>(1.37 * alibi.score().value(h, query, key));
      }
    }
  });
  EXPECT_GT(failed(checks), 0);
  for (const Check& check : checks) {
    EXPECT_TRUE(check.pass || check.note.find("likely cause: slopes scaled") != std::string::npos) << check.note;
  }
}

// If a wrong mask leaves a row without visible keys, code returns NaN, 0 or the mean of all values.
TEST(VerifyAttend, RowsThatSeeNothingMatchNoFaultByThemselves) {
  const Encoding nope("nope");
  const auto strict = [](float empty, bool mean, bool garbage) {
    return [=](const AttendRequest& r) {
      const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
      const auto document = [](std::span<const std::int64_t> boundaries, std::int64_t token) {
        return std::upper_bound(boundaries.begin(), boundaries.end(), token) - boundaries.begin();
      };
      for (std::int64_t i = 0; i < r.queries; ++i) {
        for (std::int64_t h = 0; h < r.heads; ++h) {
          const std::int64_t kh = h / (r.heads / r.key_heads), d = r.head_dim;
          std::vector<double> out(at(d), 0.0), plain(at(d), 0.0);
          double sum = 0;
          for (std::int64_t j = 0; j < r.keys; ++j) {
            const float* value = r.value.data() + (j * r.key_heads + kh) * d;
            for (std::int64_t c = 0; c < d; ++c) plain[at(c)] += value[c] / static_cast<double>(r.keys);
            const bool padded = !r.key_mask.empty() && r.key_mask[at(j)] == 0;
            if (padded || r.key_ids[at(j)] >= r.query_ids[at(i)]) continue;  // not even itself
            if (document(r.query_boundaries, i) != document(r.key_boundaries, j)) continue;
            double score = 0;
            for (std::int64_t c = 0; c < d; ++c) {
              score += static_cast<double>(r.query[at((i * r.heads + h) * d + c)]) *
                       static_cast<double>(r.key[at((j * r.key_heads + kh) * d + c)]);
            }
            const double weight = std::exp(score / std::sqrt(static_cast<double>(d)));
            sum += weight;
            for (std::int64_t c = 0; c < d; ++c) out[at(c)] += weight * static_cast<double>(value[c]);
          }
          for (std::int64_t c = 0; c < d; ++c) {
            const double none = garbage ? 0.1 * static_cast<double>(c + 1) : mean ? plain[at(c)] : empty;
            r.output[at((i * r.heads + h) * d + c)] = static_cast<float>(sum == 0 ? none : out[at(c)] / sum);
          }
        }
      }
    };
  };
  const std::string cause = "mask off by one (a query does not see itself)";
  expect_cause(verify_attend(nope, strict(0, false, false)), cause);
  expect_cause(verify_attend(nope, strict(std::nanf(""), false, false)), cause);
  expect_cause(verify_attend(nope, strict(0, true, false)), cause);
  for (const Check& check : verify_attend(nope, strict(0, false, true))) {
    EXPECT_TRUE(check.pass || check.note.find("none of the known faults") != std::string::npos) << check.note;
  }
}

// A fault in a single code path is named with the path.
TEST(VerifyRotate, NamesThePathThatIsWrong) {
  const Encoding half("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const Encoding interleaved("rope", {{"head_dim", 16}, {"pairing", "interleaved"}});
  expect_cause(verify_rotate(half, [&](const RotateRequest& r) { our_rotate(r.tokens == 1 ? interleaved : half)(r); }),
               "wrong pairing (in decode)");
}

float rounded_to_bfloat16(float x) {
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(x) + 0x8000u) & 0xFFFF0000u);
}

TEST(VerifyRotate, BoundFollowsTheArithmetic) {
  const Encoding half("rope", {{"head_dim", 64}, {"pairing", "half"}});
  const RotateFunction narrow = [&](const RotateRequest& r) {
    our_rotate(half)(r);
    for (float& x : r.data) x = rounded_to_bfloat16(x);
  };
  expect_all_pass(verify_rotate(half, narrow));
  expect_all_pass(verify_rotate(half, narrow, {.arithmetic = ElementType::bfloat16}));
  EXPECT_GT(failed(verify_rotate(half, narrow, {.arithmetic = ElementType::float32})), 0);
}

TEST(VerifyRotate, TablesThatEndAreVerifiedUpToThere) {
  const Encoding half("rope", {{"head_dim", 16}, {"pairing", "half"}});
  Position largest = 0;
  const RotateFunction table = [&](const RotateRequest& r) {
    for (const Position id : r.ids) {
      if (id < 0 || id >= 4096) throw std::out_of_range("4096 rows");
      largest = std::max(largest, id);
    }
    our_rotate(half)(r);
  };
  const auto found = verify_rotate(half, table);
  expect_all_pass(found);
  EXPECT_EQ(largest, 4095);
  EXPECT_TRUE(std::any_of(found.begin(), found.end(), [](const Check& check) {
    return check.note == "from 4096 on the function throws: 4096 rows";
  }));
  expect_all_pass(verify_rotate(half, table, {.max_length = 4096}));
  // Errors that do not concern positions are passed on.
  EXPECT_THROW(verify_rotate(half, [](const RotateRequest&) { throw std::runtime_error("mine"); }), std::runtime_error);
}

TEST(VerifyAttend, WindowsAndFullAttentionCanBeAskedFor) {
  const Encoding rope("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const auto with = [&](bool causal, std::int64_t window) {
    return [=, &rope](const AttendRequest& r) {
      std::vector<float> q(r.query.begin(), r.query.end()), k(r.key.begin(), r.key.end()),
          v(r.value.begin(), r.value.end());
      const std::vector<std::int64_t> query{r.queries, r.heads, r.head_dim}, key{r.keys, r.key_heads, r.head_dim};
      AttentionCall call{.query = heads_view(q.data(), ElementType::float32, "thd", query),
                         .key = heads_view(k.data(), ElementType::float32, "thd", key),
                         .value = heads_view(v.data(), ElementType::float32, "thd", key),
                         .output = heads_view(r.output.data(), ElementType::float32, "thd", query)};
      rotate(rope, call.query, {1, 1, r.queries, {r.query_ids.begin(), r.query_ids.end()}}, Role::query);
      rotate(rope, call.key, {1, 1, r.keys, {r.key_ids.begin(), r.key_ids.end()}}, Role::key);
      call.encoding = &rope;
      call.query_ids = r.query_ids;
      call.key_ids = r.key_ids;
      call.query_boundaries = r.query_boundaries;
      call.key_boundaries = r.key_boundaries;
      call.mask.causal = causal;
      call.mask.window = window;
      call.mask.keys = r.key_mask;
      attend(call);
    };
  };
  expect_all_pass(verify_attend(rope, with(true, 64), {.window = 64}));
  expect_all_pass(verify_attend(rope, with(false, 0), {.causal = false}));
  expect_cause(verify_attend(rope, with(true, 0), {.window = 64}), "window missing");
  expect_cause(verify_attend(rope, with(true, 64)), "window applied (of 64 tokens)");
  // Only ids near 2^31 - 1 show it, where a float32 angle is any angle.
  expect_cause(verify_attend(rope, with(true, 40'000)), "window applied (of more than 8,192 tokens)");
  expect_cause(verify_attend(rope, with(false, 0)), "mask not causal");
}

// The numbers show what attention hides.
TEST(VerifyNumbers, UniformErrorsAreSeen) {
  const Encoding alibi("alibi", {{"heads", 8}});
  const auto shifted = [&](double more) {
    return [&alibi, more](const BiasRequest& r) {
      std::size_t i = 0;
      for (std::int64_t h = 0; h < r.heads; ++h) {
        for (const Position query : r.query_ids) {
          for (const Position key : r.key_ids) {
            r.bias[i++] = static_cast<float>(alibi.score().value(h, query, key) + more);
          }
        }
      }
    };
  };
  expect_all_pass(verify_bias(alibi, shifted(0)));
  EXPECT_GT(failed(verify_bias(alibi, shifted(0.5))), 0);
  const Encoding sinusoidal("sinusoidal", {{"dim", 16}});
  const auto rows = [&](Position step) {
    return [&sinusoidal, step](const RowsRequest& r) {
      for (std::size_t t = 0; t < r.ids.size(); ++t) {
        const auto row = reference::hidden_row(sinusoidal.hidden(), r.ids[t] + step);
        std::copy(row.begin(), row.end(), r.rows.begin() + static_cast<std::ptrdiff_t>(t) * r.dim);
      }
    };
  };
  expect_all_pass(verify_rows(sinusoidal, rows(0)));
  Tensor table{{32, 8}, std::vector<float>(256, 0)};
  for (std::size_t n = 0; n < table.data.size(); ++n)
    table.data[n] = static_cast<float>(std::sin(1.7 * static_cast<double>(n)));
  const auto buckets = [](const Tensor& numbers) { return Encoding("t5", {{"heads", 8}, {"table", numbers}}); };
  const Encoding t5 = buckets(table);
  std::fill(table.data.end() - 8, table.data.end(), 0);  // of keys 113 positions and more after the query
  const Encoding other = buckets(table);
  EXPECT_GT(failed(verify_bias(t5,
                               [&](const BiasRequest& r) {
                                 std::size_t i = 0;
                                 for (std::int64_t h = 0; h < r.heads; ++h) {
                                   for (const Position query : r.query_ids) {
                                     for (const Position key : r.key_ids) {
                                       r.bias[i++] = static_cast<float>(other.score().value(h, query, key));
                                     }
                                   }
                                 }
                               })),
            0);
  EXPECT_THROW(verify_rows(alibi, rows(0)), Error);
  EXPECT_THROW(verify_bias(sinusoidal, shifted(0)), Error);
  const auto late = verify_rows(sinusoidal, [&](const RowsRequest& r) {
    std::vector<Position> moved(r.ids.begin(), r.ids.end());
    for (Position& id : moved) id = std::min<Position>(id + 1, max_position);
    rows(0)({.rows = r.rows, .dim = r.dim, .ids = moved});
  });
  EXPECT_GT(failed(late), 0);
}

TEST(VerifyAttend, LogSumExpShowsWhatOutputsHide) {
  const Encoding rope("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const AttendFunction ours = our_attend(rope);
  const auto checks = verify_attend(rope, [&](const AttendRequest& r) {
    ours(r);
    std::fill(r.log_sum_exp.begin(), r.log_sum_exp.end(), 0.0f);
  });
  ASSERT_EQ(failed(checks), 1);
  EXPECT_EQ(checks.back().name, "log-sum-exp = exact");
  EXPECT_EQ(checks.back().note, "likely cause: all scores of a row off");
}

TEST(VerifyCallable, RefusesWhatItCannotAsk) {
  const Encoding rope("rope", {{"head_dim", 16}, {"pairing", "half"}});
  const Encoding grid("rope", {{"head_dim", 16}, {"pairing", "half"}, {"axes", "grid"}});
  const Encoding learned("learned", {{"max_positions", 32}, {"dim", 4}});
  EXPECT_THROW(verify_rotate(Encoding("nope"), [](const RotateRequest&) {}), Error);
  EXPECT_THROW(verify_rotate(rope, nullptr), Error);
  EXPECT_THROW(verify_attend(rope, nullptr), Error);
  EXPECT_THROW(verify_attend(learned, [](const AttendRequest&) {}), Error);
  EXPECT_THROW(verify_attend(grid, [](const AttendRequest&) {}), Error);
}

}  // namespace
}  // namespace locus
