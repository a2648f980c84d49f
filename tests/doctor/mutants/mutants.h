// SPDX-License-Identifier: Apache-2.0
// Planted faults and right implementations, each with the encoding that it should implement.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "doctor/mutants/plain.h"
#include "locus/encoding.h"

namespace mutants {

struct Subject {
  std::string site;  ///< where the fault is: "ids", "tables", "masks", ...; "right" if there is none
  std::string name;
  locus::Encoding encoding;
  std::function<std::vector<locus::Check>()> verify;
  std::vector<std::string> faults;  ///< the right names, as ids of the catalogue
};

/// A plain implementation with the encoding that it implements.
struct Pair {
  std::string name;
  locus::Encoding encoding;
  Attention plain;
};

inline Pair rope_pair(const std::string& name, const locus::Arguments& arguments, const Rope& rope) {
  Pair pair{name, locus::Encoding("rope", arguments), {}};
  pair.plain.rotates = true;
  pair.plain.rope = rope;
  pair.plain.head_dim = rope.head_dim;
  return pair;
}

inline Pair half() { return rope_pair("half", {{"head_dim", 16}, {"pairing", "half"}}, {}); }

inline Pair interleaved() {
  Rope rope;
  rope.interleaved = true;
  return rope_pair("interleaved", {{"head_dim", 16}, {"pairing", "interleaved"}}, rope);
}

inline Pair deinterleaved() {
  Rope rope;
  rope.interleaved = rope.evens_first = true;
  return rope_pair("deinterleaved", {{"head_dim", 16}, {"pairing", "interleaved"}, {"output_order", "deinterleaved"}},
                   rope);
}

inline Pair partial() {
  Rope rope;
  rope.head_dim = 24;
  rope.start = 4;
  return rope_pair("partial", {{"head_dim", 24}, {"pairing", "half"}, {"rotary_dim", 16}, {"rotary_offset", 4}}, rope);
}

inline Pair wide() {
  Rope rope;
  rope.head_dim = rope.width = 64;
  rope.base = 5e5;
  return rope_pair("wide", {{"head_dim", 64}, {"pairing", "half"}, {"base", 5e5}}, rope);
}

inline Pair linear() {
  Rope rope;
  rope.divisor = 4;
  return rope_pair("linear", {{"head_dim", 16}, {"pairing", "half"}, {"rule", "linear"}, {"factor", 4}}, rope);
}

inline Pair magnified() {
  Rope rope;
  rope.magnitude = 1.25;
  return rope_pair("magnified",
                   {{"head_dim", 16},
                    {"pairing", "half"},
                    {"rule", "yarn"},
                    {"factor", 1},
                    {"original_length", 4096},
                    {"attention_factor", 1.25}},
                   rope);
}

inline Pair sections() {
  Rope rope;
  rope.axis_of_pair = {0, 0, 1, 1, 1, 2, 2, 2};
  return rope_pair(
      "sections",
      {{"head_dim", 16}, {"pairing", "half"}, {"axes", "mrope"}, {"sections", std::vector<double>{2, 3, 3}}}, rope);
}

inline Pair xpos() {
  Pair pair{"xpos", locus::Encoding("xpos", {{"head_dim", 16}, {"pairing", "half"}}), {}};
  pair.plain.rotates = true;
  pair.plain.rope.scale_base = 512;
  return pair;
}

inline Pair none() { return {"none", locus::Encoding("nope"), {}}; }

inline std::vector<double> slopes(int heads) {
  int n = 1;
  while (2 * n <= heads) n *= 2;
  std::vector<double> all;
  for (int h = 0; h < heads; ++h) {
    all.push_back(h < n ? std::pow(2.0, -8.0 * (h + 1) / n) : std::pow(2.0, -4.0 * (2 * (h - n) + 1) / n));
  }
  return all;
}

inline Pair alibi(int heads) {
  Pair pair{"alibi " + std::to_string(heads), locus::Encoding("alibi", {{"heads", heads}}), {}};
  pair.plain.bias = [s = slopes(heads)](std::int64_t h, std::int64_t q, std::int64_t k) {
    return -s[static_cast<std::size_t>(h)] * static_cast<double>(q - k);
  };
  return pair;
}

inline std::vector<float> random_table(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> table;
  for (std::size_t i = 0; i < count; ++i) table.push_back(static_cast<float>(engine() % 4001) / 2000.0f - 1.0f);
  return table;
}

inline locus::Tensor tensor(std::vector<std::int64_t> shape, unsigned seed) {
  std::int64_t count = 1;
  for (const std::int64_t side : shape) count *= side;
  return {std::move(shape), random_table(static_cast<std::size_t>(count), seed)};
}

struct BucketRule {
  int buckets = 32;
  double furthest = 128;
  bool both = false;
  double exact_share = 0.5;
  bool ceiling = false;
};

/// T5's buckets as published, with the logarithm of the distance.
inline std::int64_t t5_bucket(const BucketRule& rule, std::int64_t query, std::int64_t key) {
  std::int64_t offset = key - query, first = 0;
  int per_sign = rule.buckets;
  if (rule.both) {
    per_sign /= 2;
    if (offset > 0) first = per_sign;
    offset = std::llabs(offset);
  } else {
    offset = std::max<std::int64_t>(-offset, 0);
  }
  const auto exact = static_cast<std::int64_t>(per_sign * rule.exact_share);
  if (offset < exact) return first + offset;
  const double e = static_cast<double>(exact);
  const double steps = std::log(static_cast<double>(offset) / e) / std::log(rule.furthest / e) * (per_sign - e);
  const double whole = rule.ceiling ? std::ceil(steps - 1e-9) : std::floor(steps + 1e-9);
  return first + std::min<std::int64_t>(exact + static_cast<std::int64_t>(whole), per_sign - 1);
}

inline Pair t5(bool both) {
  const locus::Tensor table = tensor({32, 8}, 7);
  Pair pair{
      both ? "t5 both" : "t5", locus::Encoding("t5", {{"heads", 8}, {"bidirectional", both}, {"table", table}}), {}};
  pair.plain.scale = 1;
  BucketRule rule;
  rule.both = both;
  pair.plain.bias = [=, data = table.data](std::int64_t h, std::int64_t q, std::int64_t k) {
    return static_cast<double>(data[static_cast<std::size_t>(t5_bucket(rule, q, k) * 8 + h)]);
  };
  return pair;
}

inline Pair clipped() {
  const locus::Tensor table = tensor({33, 4}, 9);
  Pair pair{
      "clipped",
      locus::Encoding("relative_bias",
                      {{"heads", 4}, {"index", "clipped"}, {"clip_left", 16}, {"clip_right", 16}, {"table", table}}),
      {}};
  pair.plain.bias = [data = table.data](std::int64_t h, std::int64_t q, std::int64_t k) {
    const std::int64_t row = std::min<std::int64_t>(std::max<std::int64_t>(k - q, -16), 16) + 16;
    return static_cast<double>(data[static_cast<std::size_t>(row * 4 + h)]);
  };
  return pair;
}

inline Pair kerple() {
  Pair pair{"kerple",
            locus::Encoding("kerple", {{"heads", 4},
                                       {"form", "log"},
                                       {"r1", std::vector<double>{1, 0.5, 2, 0.25}},
                                       {"r2", std::vector<double>{1, 2, 0.5, 0.1}}}),
            {}};
  pair.plain.bias = [](std::int64_t h, std::int64_t q, std::int64_t k) {
    constexpr double r1[] = {1, 0.5, 2, 0.25}, r2[] = {1, 2, 0.5, 0.1};
    return -r1[h] * std::log(1 + r2[h] * static_cast<double>(std::llabs(q - k)));
  };
  return pair;
}

struct ShawTables {
  std::vector<float> key, value;
  std::int64_t width = 16, left = 8, right = 8;
  std::size_t at(std::int64_t q, std::int64_t k, std::int64_t j) const {
    const std::int64_t row = std::min(std::max(k - q, -left), right) + left;
    return static_cast<std::size_t>(row * width + j);
  }
};

inline ShawTables shaw_tables() { return {tensor({17, 16}, 11).data, tensor({17, 16}, 12).data}; }

inline Pair shaw() {
  Pair pair{"shaw",
            locus::Encoding("shaw", {{"heads", 4},
                                     {"head_dim", 16},
                                     {"clip_left", 8},
                                     {"clip_right", 8},
                                     {"scaled", true},
                                     {"values", true},
                                     {"key_table", tensor({17, 16}, 11)},
                                     {"value_table", tensor({17, 16}, 12)}}),
            {}};
  pair.plain.relative = [t = shaw_tables()](std::int64_t, const float* q, const float*, std::int64_t query,
                                            std::int64_t key) {
    double sum = 0;
    for (std::int64_t j = 0; j < 16; ++j)
      sum += static_cast<double>(q[j]) * static_cast<double>(t.key[t.at(query, key, j)]);
    return sum;
  };
  pair.plain.relative_value = [t = shaw_tables()](std::int64_t query, std::int64_t key, std::int64_t j) {
    return static_cast<double>(t.value[t.at(query, key, j)]);
  };
  return pair;
}

struct XlWeights {
  std::vector<float> u = tensor({2, 16}, 21).data, v = tensor({2, 16}, 22).data, w = tensor({32, 32}, 23).data;
  bool interleaved_sinusoid = false;
  double sign = 1, shift = 0;
  double term(std::int64_t h, const float* q, const float* k, std::int64_t query, std::int64_t key) const {
    const double n = sign * static_cast<double>(query - key) + shift;
    double wave[32];
    for (int i = 0; i < 16; ++i) {
      const double a = n * std::pow(10000.0, -2.0 * i / 32);
      wave[interleaved_sinusoid ? 2 * i : i] = std::sin(a);
      wave[interleaved_sinusoid ? 2 * i + 1 : 16 + i] = std::cos(a);
    }
    double sum = 0;
    for (std::int64_t j = 0; j < 16; ++j) {
      double r = 0;
      for (std::size_t m = 0; m < 32; ++m)
        r += static_cast<double>(w[static_cast<std::size_t>(h * 16 + j) * 32 + m]) * wave[m];
      const auto c = static_cast<std::size_t>(h * 16 + j);
      sum += static_cast<double>(u[c]) * static_cast<double>(k[j]) +
             (static_cast<double>(q[j]) + static_cast<double>(v[c])) * r;
    }
    return sum;
  }
};

inline Pair transformer_xl(const XlWeights& weights = {}) {
  Pair pair{"transformer_xl",
            locus::Encoding("transformer_xl", {{"heads", 2},
                                               {"head_dim", 16},
                                               {"u", tensor({2, 16}, 21)},
                                               {"v", tensor({2, 16}, 22)},
                                               {"w_r", tensor({32, 32}, 23)}}),
            {}};
  pair.plain.relative = [weights](std::int64_t h, const float* q, const float* k, std::int64_t query,
                                  std::int64_t key) { return weights.term(h, q, k, query, key); };
  return pair;
}

/// At least 400, in a fixed order.
std::vector<Subject> planted_faults();
/// Right implementations in every arithmetic type.
std::vector<Subject> right_ones();

struct Score {
  int all = 0, caught = 0, named = 0;
  double slowest = 0;  ///< seconds
  std::vector<std::string> survivors, misnamed;
};
/// Prints survivors, wrong names and, with `verbose`, every subject.
Score run_planted(const std::vector<Subject>& subjects, std::size_t step, bool verbose);
/// Prints the right implementations that are refused, with the notes.
std::vector<std::string> refused(const std::vector<Subject>& subjects, std::size_t step);

}  // namespace mutants
