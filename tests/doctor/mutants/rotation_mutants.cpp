// SPDX-License-Identifier: Apache-2.0
// Faults of ids, tables, pairing, widths and precision in a rotation, verified through rotate and through attention.
#include "doctor/mutants/lists.h"

namespace mutants {
namespace {

using std::int64_t;
using Strings = std::vector<std::string>;

void ids(List& list) {
  using Id = std::function<int64_t(const Where&, int64_t)>;
  const auto add = [&](const std::string& name, const Id& id, const Strings& faults, bool attention = true,
                       bool rotation = true) {
    for (const Pair& pair : {half(), partial(), linear()}) {
      Rope rope = pair.plain.rope;
      rope.id = id;
      if (rotation) list.rotate("ids", name, pair, rope, faults);
      if (!attention || pair.name == "linear") continue;
      Attention plain = pair.plain;
      plain.rope.id = id;
      list.attend("ids", name, pair, plain, faults);
    }
  };
  for (const int64_t step : {1, -1}) {
    add(
        "decode " + std::to_string(step),
        [=](const Where& w, int64_t p) { return w.decode() && !w.key ? p + step : p; }, {"off_by_one_in_decode"}, true,
        false);
    add(
        "all " + std::to_string(step), [=](const Where&, int64_t p) { return p + step; }, {"off_by_one"}, false);
    add("queries " + std::to_string(step), [=](const Where& w, int64_t p) { return w.key ? p : p + step; },
        {"off_by_one"});
  }
  add(
      "decode alone, rotation", [](const Where& w, int64_t p) { return w.tokens == 1 ? p - 1 : p; },
      {"off_by_one_in_decode"}, false);
  for (const int64_t step : {2, 5, -3, 16, 100}) {
    add("keys " + std::to_string(step), [=](const Where& w, int64_t p) { return w.key ? p + step : p; },
        {"position_offset"});
  }
  add("counted", [](const Where& w, int64_t) { return w.token; }, {"ids_ignored"});
  add(
      "counted to the end",
      [](const Where& w, int64_t) { return w.token + (w.attend != nullptr && !w.key ? w.first : 0); }, {"ids_ignored"},
      true, false);
  add("from the first id", [](const Where& w, int64_t) { return w.ids[0] + w.token; }, {"positions_not_reset"});
  add("backwards", [](const Where& w, int64_t) { return w.ids[w.tokens - 1 - w.token]; }, {"positions_reversed"});
  for (const int bits : {7, 8, 11, 12, 15, 16, 20, 24}) {
    const int64_t size = int64_t{1} << bits;
    add(
        "wrapped at 2^" + std::to_string(bits), [=](const Where&, int64_t p) { return p >= 0 ? p % size : p; },
        {"positions_wrapped"}, bits < 20);
    add(
        "signed, 2^" + std::to_string(bits),
        [=](const Where&, int64_t p) {
          const int64_t r = ((p % (2 * size)) + 2 * size) % (2 * size);
          return r >= size ? r - 2 * size : r;
        },
        {"positions_wrapped"}, false);
    add(
        "clamped at 2^" + std::to_string(bits), [=](const Where&, int64_t p) { return std::min(p, size - 1); },
        {"positions_clamped"}, bits < 16);
  }
  for (const int64_t length : {100, 1000, 5000})
    add(
        "clamped at " + std::to_string(length), [=](const Where&, int64_t p) { return std::min(p, length - 1); },
        {"positions_clamped"}, false);
  add("positive", [](const Where&, int64_t p) { return std::llabs(p); }, {"negative_positions"});
  add("0 below 0", [](const Where&, int64_t p) { return std::max<int64_t>(p, 0); }, {"negative_positions"});
  add(
      "unsigned", [](const Where&, int64_t p) { return p < 0 ? p + (int64_t{1} << 32) : p; },
      {"negative_positions", "positions_wrapped"}, false);
  add("doubled", [](const Where&, int64_t p) { return 2 * p; },
      {"positions_doubled", "rotated_twice", "frequencies_scaled", "other_rule", "factor_wrong"});
  add("halved", [](const Where&, int64_t p) { return p >> 1; }, {"positions_divided"});
  add("of the token before", [](const Where& w, int64_t) { return w.ids[std::max<int64_t>(w.token - 1, 0)]; },
      {"positions_of_neighbours", "positions_clamped", "position_offset_from", "keys_at_the_query"});
  add("of the first token", [](const Where& w, int64_t) { return w.ids[0]; }, {"positions_constant", "no_positions"});
  for (const int page : {16, 32, 64, 128, 256}) {
    add(
        "off by one per page of " + std::to_string(page),
        [=](const Where& w, int64_t p) { return p + (w.token + w.first) / page; },
        {"off_by_one_per_page", "position_offset_from"}, true, false);
    add(
        "reset in pages of " + std::to_string(page), [=](const Where&, int64_t p) { return p >= 0 ? p % page : p; },
        {"positions_reset", "positions_wrapped"}, page < 64);
    add(
        "one more from " + std::to_string(page) + " on", [=](const Where&, int64_t p) { return p >= page ? p + 1 : p; },
        {"position_offset_from", "off_by_one_per_page"}, page < 64);
  }
  add("in bfloat16",
      [](const Where&, int64_t p) { return static_cast<int64_t>(round_bits(static_cast<float>(p), 16)); },
      {"bfloat16_angles"});
  add(
      "packed, running on",
      [](const Where& w, int64_t p) {
        if (w.attend == nullptr || w.attend->key_boundaries.empty()) return p;
        const auto& b = w.key ? w.attend->key_boundaries : w.attend->query_boundaries;
        int64_t start = 0;
        for (const int64_t x : b)
          if (x <= w.token) start = x;
        return p + start;
      },
      {"positions_not_reset"}, false, false);
}

void ids_of_attention(List& list) {
  const auto add = [&](const std::string& name, const std::function<int64_t(const Where&, int64_t)>& id,
                       const Strings& faults) {
    for (const Pair& pair : {half(), wide()}) {
      Attention plain = pair.plain;
      plain.rope.id = id;
      list.attend("ids", name, pair, plain, faults);
    }
  };
  add("decoded keys off by one",
      [](const Where& w, int64_t p) { return w.decode() && w.key && w.token == w.tokens - 1 ? p + 1 : p; },
      {"off_by_one_in_decode"});
  add("chunks off by one", [](const Where& w, int64_t p) { return !w.key && w.first > 0 && w.tokens > 1 ? p - 1 : p; },
      {"off_by_one_in_chunks"});
  add("queries at the padding",
      [](const Where& w, int64_t p) { return w.attend->key_mask.empty() || w.key ? p : p + 1; },
      {"off_by_one_in_padded"});
  add("queries of packed documents",
      [](const Where& w, int64_t p) { return w.attend->key_boundaries.empty() || w.key ? p : p + 1; },
      {"off_by_one_in_packed"});
  add("later documents off by one",
      [](const Where& w, int64_t p) {
        const auto& b = w.key ? w.attend->key_boundaries : w.attend->query_boundaries;
        return b.size() > 1 && !w.key && w.token >= b[1] ? p + 1 : p;
      },
      {"off_by_one_in_packed"});
  add("queries counted from 0", [](const Where& w, int64_t p) { return w.key ? p : w.token; },
      {"ids_ignored", "queries_counted_from_zero"});
  add("keys at the last query",
      [](const Where& w, int64_t p) {
        return w.key ? w.attend->query_ids[static_cast<std::size_t>(w.attend->queries - 1)] : p;
      },
      {"keys_at_the_query", "positions_constant"});
}

void packed(List& list) {
  const auto start = [](const Where& w) {
    const auto& b = w.key ? w.attend->key_boundaries : w.attend->query_boundaries;
    int64_t first = 0;
    for (const int64_t x : b)
      if (x <= w.token) first = x;
    return first;
  };
  const auto add = [&](const std::string& name, const std::function<int64_t(const Where&, int64_t)>& id,
                       const Strings& faults, bool slopes = true) {
    for (const Pair& pair : {half(), interleaved()}) {
      Attention plain = pair.plain;
      plain.rope.id = id;
      list.attend("packing", name, pair, plain, faults);
    }
    for (const Pair& pair : {alibi(8), t5(false), clipped()}) {
      if (!slopes && pair.name == "alibi 8") continue;  // softmax ignores what all scores of a row share
      Attention plain = pair.plain;
      plain.id = id;
      list.attend("packing", name, pair, plain, faults);
    }
  };
  add("first document's ids",
      [=](const Where& w, int64_t p) { return w.attend->key_boundaries.empty() ? p : w.ids[w.token - start(w)]; },
      {"positions_of_first_document"});
  add(
      "ids from the first one",
      [=](const Where& w, int64_t p) { return w.attend->key_boundaries.empty() || w.key ? p : w.ids[0] + w.token; },
      {"positions_not_reset"}, false);
}

void tables(List& list) {
  const auto add = [&](const std::string& name, const Strings& faults, const std::function<void(Rope&)>& change,
                       bool attention = true) {
    for (const Pair& pair : {half(), wide(), partial()}) {
      Rope rope = pair.plain.rope;
      change(rope);
      list.rotate("tables", name, pair, rope, faults);
      if (!attention || pair.name == "wide") continue;
      Attention plain = pair.plain;
      change(plain.rope);
      list.attend("tables", name, pair, plain, faults);
    }
  };
  add("another base", {"base_wrong"}, [](Rope& r) { r.base = r.base == 1e4 ? 5e5 : 1e4; });
  add("base 1e6", {"base_wrong"}, [](Rope& r) { r.base = 1e6; });
  add(
      "base off by one", {"base_wrong"}, [](Rope& r) { r.base += 1; }, false);
  add("interpolated by 2", {"other_rule", "frequencies_scaled", "factor_wrong"}, [](Rope& r) { r.divisor = 2; });
  add("interpolated by 8", {"other_rule", "frequencies_scaled", "factor_wrong"}, [](Rope& r) { r.divisor = 8; });
  const auto frequency = [&](const std::string& name, const Strings& faults,
                             const std::function<double(const Rope&, int64_t)>& f, bool attention = true) {
    add(
        name, faults, [f](Rope& r) { r.frequency = [f, own = r](int64_t i, double) { return f(own, i); }; }, attention);
  };
  const auto power = [](const Rope& r, double exponent) { return std::pow(r.base, -exponent); };
  frequency("half the exponent", {"exponent_wrong", "base_wrong", "partial_as_proportional", "wrong_width"},
            [=](const Rope& r, int64_t i) { return power(r, static_cast<double>(i) / static_cast<double>(r.width)); });
  frequency("an exponent on", {"exponent_wrong"}, [=](const Rope& r, int64_t i) {
    return power(r, 2.0 * static_cast<double>(i + 1) / static_cast<double>(r.width));
  });
  frequency("backwards", {"frequencies_reversed"}, [=](const Rope& r, int64_t i) {
    return power(r, 2.0 * static_cast<double>(r.width / 2 - 1 - i) / static_cast<double>(r.width));
  });
  frequency("all one", {"frequencies_constant"}, [](const Rope&, int64_t) { return 1.0; });
  frequency("in turns", {"frequencies_scaled"}, [=](const Rope& r, int64_t i) {
    return 6.283185307179586 * power(r, 2.0 * static_cast<double>(i) / static_cast<double>(r.width));
  });
  frequency(
      "d - 2", {"exponent_wrong"},
      [=](const Rope& r, int64_t i) {
        return power(r, 2.0 * static_cast<double>(i) / static_cast<double>(r.width - 2));
      },
      false);
  const auto table = [&](const std::string& name, const Strings& faults,
                         const std::function<void(const Where&, int64_t, double&, double&)>& f, bool attention = true) {
    add(
        name, faults, [f](Rope& r) { r.table = f; }, attention);
  };
  table(
      "cos and sin exchanged", {"cos_and_sin_exchanged"},
      [](const Where&, int64_t, double& c, double& s) { std::swap(c, s); }, false);
  table("exchanged for keys", {"cos_and_sin_exchanged"}, [](const Where& w, int64_t, double& c, double& s) {
    if (w.key) std::swap(c, s);
  });
  table("first pair left", {"coordinates_not_rotated"}, [](const Where&, int64_t i, double& c, double& s) {
    if (i == 0) {
      c = 1;
      s = 0;
    }
  });
  table(
      "last pair left", {"coordinates_not_rotated"},
      [](const Where&, int64_t i, double& c, double& s) {
        if (i == 7) {
          c = 1;
          s = 0;
        }
      },
      false);
  table("second half left", {"coordinates_not_rotated", "wrong_width"},
        [](const Where&, int64_t i, double& c, double& s) {
          if (i >= 4) {
            c = 1;
            s = 0;
          }
        });
  table("sin missing", {"sin_missing"}, [](const Where&, int64_t, double&, double& s) { s = 0; });
  table(
      "backwards", {"inverse_rotation", "positions_negated"}, [](const Where&, int64_t, double&, double& s) { s = -s; },
      false);
  table("queries backwards", {"inverse_rotation", "positions_negated"},
        [](const Where& w, int64_t, double&, double& s) {
          if (!w.key) s = -s;
        });
  table("keys backwards", {"inverse_rotation", "positions_negated"}, [](const Where& w, int64_t, double&, double& s) {
    if (w.key) s = -s;
  });
  // For a head of width 16, scores four times as large are those without the softmax scale.
  table("twice as large", {"magnitude_wrong", "softmax_scale"}, [](const Where&, int64_t, double& c, double& s) {
    c *= 2;
    s *= 2;
  });
  table("queries larger", {"magnitude_wrong"}, [](const Where& w, int64_t, double& c, double& s) {
    if (!w.key) {
      c *= std::sqrt(2.0);
      s *= std::sqrt(2.0);
    }
  });
  const auto turned = [&](const std::string& name, const Strings& faults,
                          const std::function<int(const Where&, int64_t, int64_t)>& f, bool attention = true,
                          bool rotation = true) {
    for (const Pair& pair : {half(), partial()}) {
      Rope rope = pair.plain.rope;
      rope.times = f;
      if (rotation) list.rotate("tables", name, pair, rope, faults);
      if (!attention) continue;
      Attention plain = pair.plain;
      plain.rope = rope;
      list.attend("tables", name, pair, plain, faults);
    }
  };
  turned("not at all", {"no_positions", "not_rotated"}, [](const Where&, int64_t, int64_t) { return 0; });
  turned("queries not", {"not_rotated"}, [](const Where& w, int64_t, int64_t) { return w.key ? 1 : 0; });
  turned("keys not", {"not_rotated"}, [](const Where& w, int64_t, int64_t) { return w.key ? 0 : 1; });
  turned("twice", {"rotated_twice", "positions_doubled", "frequencies_scaled", "other_rule", "factor_wrong"},
         [](const Where&, int64_t, int64_t) { return 2; });
  turned("keys twice", {"rotated_twice", "positions_doubled"},
         [](const Where& w, int64_t, int64_t) { return w.key ? 2 : 1; });
  turned(
      "not in decode", {"not_rotated", "tokens_not_rotated"},
      [](const Where& w, int64_t, int64_t) { return w.decode() && !w.key ? 0 : 1; }, true, false);
  turned("first head left", {"heads_not_rotated"}, [](const Where&, int64_t h, int64_t) { return h == 0 ? 0 : 1; });
  turned("one head left", {"heads_not_rotated"},
         [](const Where& w, int64_t h, int64_t) { return !w.key && h == 2 ? 0 : 1; });
  turned("last head left", {"heads_not_rotated"},
         [](const Where&, int64_t h, int64_t n) { return h == n - 1 ? 0 : 1; });
  turned("heads from 2 on left", {"heads_not_rotated"},
         [](const Where&, int64_t h, int64_t) { return h >= 2 ? 0 : 1; });
  turned("odd heads left", {"heads_not_rotated"},
         [](const Where& w, int64_t h, int64_t) { return !w.key && h % 2 == 1 ? 0 : 1; });
  turned(
      "first token left", {"tokens_not_rotated"}, [](const Where& w, int64_t, int64_t) { return w.token == 0 ? 0 : 1; },
      false);
  for (const int page : {16, 64, 256}) {
    turned(
        "tokens from " + std::to_string(page) + " on left", {"tokens_not_rotated"},
        [=](const Where& w, int64_t, int64_t) { return w.token + w.first >= page ? 0 : 1; }, true, false);
    turned(
        "last of " + std::to_string(page) + " left", {"tokens_not_rotated"},
        [=](const Where& w, int64_t, int64_t) { return (w.token + w.first) % page == page - 1 ? 0 : 1; }, true, false);
    turned(
        "rest after " + std::to_string(page) + " left", {"tokens_not_rotated"},
        [=](const Where& w, int64_t, int64_t) { return w.token >= w.tokens / page * page ? 0 : 1; }, false);
  }
  turned("below 0 left", {"tokens_not_rotated", "negative_positions"},
         [](const Where& w, int64_t, int64_t) { return w.ids[w.token] < 0 ? 0 : 1; });
  turned(
      "cached keys twice", {"cached_rotated_twice"},
      [](const Where& w, int64_t, int64_t) {
        return w.key && w.attend != nullptr && w.token < w.attend->cached ? 2 : 1;
      },
      true, false);
  turned(
      "cached keys not", {"cached_not_rotated"},
      [](const Where& w, int64_t, int64_t) {
        return w.key && w.attend != nullptr && w.token < w.attend->cached ? 0 : 1;
      },
      true, false);
  for (const Pair& pair : {half(), interleaved(), partial()}) {
    Attention plain = pair.plain;
    plain.rotates_values = true;
    list.attend("tables", "values rotated", pair, plain, {"values_rotated"});
  }
}

void rules_and_magnitudes(List& list) {
  const auto both = [&](const std::string& site, const std::string& name, const Pair& pair, const Strings& faults,
                        const std::function<void(Rope&)>& change) {
    Rope rope = pair.plain.rope;
    change(rope);
    list.rotate(site, name, pair, rope, faults);
    if (!rope.axis_of_pair.empty()) return;
    Attention plain = pair.plain;
    plain.rope = rope;
    list.attend(site, name, pair, plain, faults);
  };
  both("tables", "rule missing", linear(), {"rule_not_applied"}, [](Rope& r) { r.divisor = 1; });
  both("tables", "rule twice", linear(), {"rule_applied_twice", "factor_wrong", "other_rule"},
       [](Rope& r) { r.divisor = 16; });
  both("tables", "factor 2", linear(), {"factor_wrong", "other_rule"}, [](Rope& r) { r.divisor = 2; });
  both("tables", "factor inverted", linear(), {"factor_wrong", "other_rule"}, [](Rope& r) { r.divisor = 0.25; });
  both("tables", "magnitude missing", magnified(), {"magnitude_missing"}, [](Rope& r) { r.magnitude = 1; });
  both("tables", "magnitude twice", magnified(), {"magnitude_squared"}, [](Rope& r) { r.magnitude *= r.magnitude; });
  both("tables", "magnitude for queries alone", magnified(), {"magnitude_missing"}, [](Rope& r) {
    r.table = [](const Where& w, int64_t, double& c, double& s) {
      if (w.key) {
        c /= 1.25;
        s /= 1.25;
      }
    };
  });
  both("tables", "magnitude inverted", magnified(), {"magnitude_wrong"},
       [](Rope& r) { r.magnitude = 1 / r.magnitude; });
  both("tables", "xpos scale missing", xpos(), {"scale_missing"}, [](Rope& r) { r.scale_base = 0; });
  both("tables", "xpos scale of 1024", xpos(), {"scale_base_wrong"}, [](Rope& r) { r.scale_base = 1024; });
  both("tables", "xpos roles", xpos(), {"roles_exchanged"}, [](Rope& r) { r.roles_exchanged = true; });
  const auto axes = [&](const std::string& name, const Strings& faults, std::vector<int> order) {
    both("tables", name, sections(), faults, [order](Rope& r) { r.axis_of_pair = order; });
  };
  axes("sections swapped", {"sections_swapped"}, {1, 1, 0, 0, 0, 2, 2, 2});
  axes("height and width swapped", {"sections_swapped"}, {0, 0, 2, 2, 2, 1, 1, 1});
  axes("one axis", {"sections_cut"}, {0, 0, 0, 0, 0, 0, 0, 0});
  axes("in turn", {"sections_cut"}, {0, 1, 2, 0, 1, 2, 0, 1});
  axes("equal parts", {"sections_cut"}, {0, 0, 0, 1, 1, 1, 2, 2});
  axes("backwards", {"sections_swapped"}, {2, 2, 2, 1, 1, 1, 0, 0});
}

void pairing(List& list) {
  const auto add = [&](const std::string& name, const Pair& pair, const Strings& faults,
                       const std::function<void(Rope&)>& change) {
    for (const Arithmetic type : {Arithmetic::float32, Arithmetic::bfloat16}) {
      Rope rope = pair.plain.rope;
      rope.arithmetic = type;
      change(rope);
      list.rotate("pairing", name, pair, rope, faults);
      Attention plain = pair.plain;
      plain.arithmetic = type;
      plain.rope = rope;
      list.attend("pairing", name, pair, plain, faults);
    }
  };
  add("interleaved for half", half(), {"wrong_pairing"}, [](Rope& r) { r.interleaved = true; });
  add("half for interleaved", interleaved(), {"wrong_pairing"}, [](Rope& r) { r.interleaved = false; });
  add("interleaved for half, wide", wide(), {"wrong_pairing"}, [](Rope& r) { r.interleaved = true; });
  add("interleaved for half, partial", partial(), {"wrong_pairing"}, [](Rope& r) { r.interleaved = true; });
  for (const Pair& pair : {deinterleaved(), interleaved()}) {
    Rope rope = pair.plain.rope;
    rope.evens_first = !rope.evens_first;
    list.rotate("pairing", "order of the output", pair, rope, {"wrong_output_order"});
  }
}

void widths(List& list) {
  const auto add = [&](const std::string& name, const Pair& pair, const Strings& faults,
                       const std::function<void(Rope&)>& change) {
    Rope rope = pair.plain.rope;
    change(rope);
    list.rotate("widths", name, pair, rope, faults);
    Attention plain = pair.plain;
    plain.rope = rope;
    list.attend("widths", name, pair, plain, faults);
  };
  add("offset ignored", partial(), {"wrong_offset"}, [](Rope& r) { r.start = 0; });
  add("at the end", partial(), {"wrong_offset"}, [](Rope& r) { r.start = 8; });
  add("the whole head", partial(), {"wrong_width"}, [](Rope& r) {
    r.start = 0;
    r.width = 24;
  });
  add("half of the width", half(), {"wrong_width"}, [](Rope& r) { r.width = 8; });
  add("a pair less", wide(), {"wrong_width"}, [](Rope& r) { r.width = 62; });
  add("half of the width, wide", wide(), {"wrong_width"}, [](Rope& r) { r.width = 32; });
  add("a quarter", half(), {"wrong_width"}, [](Rope& r) { r.width = 4; });
  add("exponents of the head", partial(), {"partial_as_proportional"}, [](Rope& r) {
    r.frequency = [](int64_t i, double) { return std::pow(10000.0, -2.0 * static_cast<double>(i) / 24.0); };
  });
}

void precision(List& list) {
  const auto bf = [](double x) { return static_cast<double>(round_bits(static_cast<float>(x), 16)); };
  const auto hf = [](double x) { return static_cast<double>(to_half(static_cast<float>(x))); };
  const auto add = [&](const std::string& name, const Strings& faults, const std::function<void(Rope&)>& change,
                       bool attention = true) {
    for (const Pair& pair : {half(), wide(), interleaved()}) {
      Rope rope = pair.plain.rope;
      change(rope);
      list.rotate("precision", name, pair, rope, faults);
      if (!attention || pair.name != "half") continue;
      Attention plain = pair.plain;
      plain.rope = rope;
      list.attend("precision", name, pair, plain, faults);
    }
  };
  add("float32 angles", {"float32_angles"}, [](Rope& r) { r.float32_angles = true; });
  add("bfloat16 angles", {"bfloat16_angles"},
      [=](Rope& r) { r.angle = [=](double p, double w) { return bf(bf(p) * bf(w)); }; });
  add("bfloat16 frequencies", {"bfloat16_angles"},
      [=](Rope& r) { r.angle = [=](double p, double w) { return p * bf(w); }; });
  add("bfloat16 products", {"bfloat16_angles"},
      [=](Rope& r) { r.angle = [=](double p, double w) { return bf(p * w); }; });
  add("float16 angles", {"float16_angles"},
      [=](Rope& r) { r.angle = [=](double p, double w) { return hf(hf(p) * hf(w)); }; });
  add("float16 frequencies", {"float16_angles"},
      [=](Rope& r) { r.angle = [=](double p, double w) { return p * hf(w); }; });
  add("bfloat16 tables", {"bfloat16_tables"}, [=](Rope& r) {
    r.table = [=](const Where&, int64_t, double& c, double& s) {
      c = bf(c);
      s = bf(s);
    };
  });
  add(
      "float16 tables", {"float16_tables"},
      [=](Rope& r) {
        r.table = [=](const Where&, int64_t, double& c, double& s) {
          c = hf(c);
          s = hf(s);
        };
      },
      false);
}

}  // namespace

void plant_in_rotations(List& list) {
  ids(list);
  ids_of_attention(list);
  packed(list);
  tables(list);
  rules_and_magnitudes(list);
  pairing(list);
  widths(list);
  precision(list);
}

}  // namespace mutants
