// SPDX-License-Identifier: Apache-2.0
// Biases made by their definitions, right and wrong, and their diagnosis.
#include "locus/doctor/diagnose_bias.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "locus/element.h"
#include "locus/error.h"

namespace locus::testing {
namespace {

using Entry = std::function<double(std::int64_t head, std::int64_t query, std::int64_t key)>;

// Query q is at keys - queries + q, which `entry` receives.
BiasDump make_bias(std::int64_t heads, std::int64_t queries, std::int64_t keys, const Entry& entry) {
  BiasDump dump{heads, queries, keys, {}};
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::int64_t q = 0; q < queries; ++q) {
      for (std::int64_t k = 0; k < keys; ++k) {
        dump.bias.push_back(static_cast<double>(static_cast<float>(entry(h, keys - queries + q, k))));
      }
    }
  }
  return dump;
}

// Eight heads: 1/2, 1/4, ... 1/256.
double slope8(std::int64_t head) { return std::exp2(-static_cast<double>(head + 1)); }
double distance(std::int64_t q, std::int64_t k) { return static_cast<double>(q - k); }
// Six heads, by the paper: those of four (1/4, 1/16, 1/64, 1/256), then every second of eight (1/2, 1/8).
constexpr double slopes6[] = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};

std::string first_of(const BiasDiagnosis& diagnosis) { return diagnosis.verdicts.front().name; }
bool has(const BiasDiagnosis& diagnosis, const std::string& name) {
  return std::any_of(diagnosis.verdicts.begin(), diagnosis.verdicts.end(),
                     [&](const Verdict& verdict) { return verdict.name == name; });
}

TEST(DiagnoseBias, KnowsAlibiAndItsForms) {
  const auto causal =
      make_bias(8, 5, 9, [](auto h, auto q, auto k) { return k < q ? -slope8(h) * distance(q, k) : 0; });
  BiasDiagnosis diagnosis = diagnose_bias(causal);
  EXPECT_EQ(first_of(diagnosis), "alibi");
  EXPECT_TRUE(diagnosis.toeplitz);
  EXPECT_FALSE(diagnosis.key_only);
  ASSERT_EQ(diagnosis.slopes.size(), 8u);
  EXPECT_NEAR(diagnosis.slopes[0], 0.5, 1e-6);

  const auto bloom = make_bias(8, 5, 9, [](auto h, auto, auto k) { return slope8(h) * static_cast<double>(k); });
  diagnosis = diagnose_bias(bloom);
  EXPECT_EQ(first_of(diagnosis), "alibi");
  EXPECT_TRUE(diagnosis.key_only);
  EXPECT_NE(diagnosis.verdicts.front().text.find("from the first key"), std::string::npos);

  const auto mpt = make_bias(8, 5, 9, [](auto h, auto, auto k) { return slope8(h) * static_cast<double>(k - 8); });
  diagnosis = diagnose_bias(mpt);
  EXPECT_EQ(first_of(diagnosis), "alibi");
  EXPECT_NE(diagnosis.verdicts.front().text.find("from the end"), std::string::npos);

  const auto symmetric =
      make_bias(8, 5, 9, [](auto h, auto q, auto k) { return -slope8(h) * std::abs(distance(q, k)); });
  EXPECT_NE(diagnose_bias(symmetric).verdicts.front().text.find("symmetric"), std::string::npos);
}

TEST(DiagnoseBias, KnowsWrongSlopes) {
  const auto with = [](const std::function<double(std::int64_t)>& slope) {
    return diagnose_bias(
        make_bias(6, 5, 9, [&](auto h, auto q, auto k) { return -slope(h) * std::max(0.0, distance(q, k)); }));
  };
  EXPECT_EQ(first_of(with([](auto h) { return slopes6[h]; })), "alibi");
  EXPECT_EQ(first_of(with([](auto h) { return slopes6[5 - h]; })), "alibi_slopes_reversed");
  EXPECT_EQ(first_of(with([](auto h) { return slope8(h); })), "alibi_slopes_next_power");
  EXPECT_EQ(first_of(with([](auto h) { return std::exp2(-8.0 * static_cast<double>(h + 1) / 6); })),
            "alibi_slopes_one_series");
  EXPECT_EQ(first_of(with([](auto h) { return -slopes6[h]; })), "alibi_sign");
  EXPECT_EQ(first_of(with([](auto h) { return slopes6[h] / 8; })), "alibi_scaled");
  EXPECT_EQ(first_of(with([](auto h) { return 0.1 + 0.01 * static_cast<double>(h); })), "linear_bias");
}

TEST(DiagnoseBias, TellsMasksApart) {
  for (const double mask : {-std::numeric_limits<double>::infinity(), -65504.0, -1e9}) {
    const auto dump =
        make_bias(8, 9, 9, [&](auto h, auto q, auto k) { return k > q ? mask : -slope8(h) * distance(q, k); });
    const BiasDiagnosis diagnosis = diagnose_bias(dump, Encoding("alibi", {{"heads", 8}}));
    EXPECT_EQ(first_of(diagnosis), "as_expected") << mask;
    EXPECT_TRUE(has(diagnosis, "mask_mixed_in")) << mask;
    EXPECT_EQ(diagnosis.masked, 8 * 36);
    EXPECT_TRUE(diagnosis.causal_mask);
  }
  // A steep linear bias is not a mask.
  const auto steep = make_bias(1, 9, 9, [](auto, auto q, auto k) { return -5000.0 * std::max(0.0, distance(q, k)); });
  EXPECT_EQ(diagnose_bias(steep).masked, 0);
}

TEST(DiagnoseBias, ComparesWithAnExpectation) {
  const Encoding alibi("alibi", {{"heads", 8}});
  const auto from_zero =
      make_bias(8, 3, 9, [](auto h, auto q, auto k) { return -slope8(h) * std::max(0.0, distance(q - 6, k)); });
  EXPECT_EQ(first_of(diagnose_bias(from_zero, alibi)), "queries_counted_from_zero");
  const auto late =
      make_bias(8, 3, 9, [](auto h, auto q, auto k) { return -slope8(h) * std::max(0.0, distance(q + 1, k)); });
  EXPECT_EQ(first_of(diagnose_bias(late, alibi)), "queries_off_by_one");
  const auto bloom = make_bias(8, 3, 9, [](auto h, auto, auto k) { return slope8(h) * static_cast<double>(k); });
  EXPECT_EQ(first_of(diagnose_bias(bloom, alibi)), "row_constant");
  const auto reversed =
      make_bias(8, 3, 9, [](auto h, auto q, auto k) { return -slope8(7 - h) * std::max(0.0, distance(q, k)); });
  EXPECT_EQ(first_of(diagnose_bias(reversed, alibi)), "alibi_slopes_reversed");
}

// T5's own Python, per sign: exact up to half, then logarithmic.
std::int64_t t5_bucket(std::int64_t offset, std::int64_t buckets, std::int64_t longest, bool bidirectional) {
  std::int64_t bucket = 0;
  if (bidirectional) {
    buckets /= 2;
    bucket = offset > 0 ? buckets : 0;
    offset = std::abs(offset);
  } else {
    offset = std::max<std::int64_t>(-offset, 0);
  }
  const std::int64_t exact = buckets / 2;
  if (offset < exact) return bucket + offset;
  const double e = static_cast<double>(exact);
  const double share = std::log(static_cast<double>(offset) / e) / std::log(static_cast<double>(longest) / e);
  return bucket +
         std::min(buckets - 1, exact + static_cast<std::int64_t>(share * static_cast<double>(buckets - exact)));
}

TEST(DiagnoseBias, KnowsT5Buckets) {
  for (const bool bidirectional : {true, false}) {
    const auto dump = make_bias(2, 150, 200, [&](auto h, auto q, auto k) {
      return std::sin(1.7 * static_cast<double>(t5_bucket(k - q, 32, 100, bidirectional) * 2 + h + 1));
    });
    const BiasDiagnosis other = diagnose_bias(dump, Encoding("t5", {{"heads", 2}, {"bidirectional", bidirectional}}));
    EXPECT_NE(first_of(other), "as_expected") << "distances of 100 and 128 differ";
    const auto right = make_bias(2, 150, 200, [&](auto h, auto q, auto k) {
      return std::sin(1.7 * static_cast<double>(t5_bucket(k - q, 64, 1024, bidirectional) * 2 + h + 1));
    });
    const BiasDiagnosis diagnosis = diagnose_bias(right);
    EXPECT_EQ(first_of(diagnosis), "t5");
    EXPECT_NE(diagnosis.verdicts.front().text.find("64 buckets up to distance 1024"), std::string::npos);
    EXPECT_NE(diagnosis.verdicts.front().text.find(bidirectional ? "both directions" : "past only"), std::string::npos);
    const Encoding expected(
        "t5", {{"heads", 2}, {"num_buckets", 64}, {"max_distance", 1024}, {"bidirectional", bidirectional}});
    EXPECT_EQ(first_of(diagnose_bias(right, expected)), "as_expected");
    EXPECT_EQ(first_of(diagnose_bias(right, Encoding("t5", {{"heads", 2}}))), "buckets_wrong");
  }
}

TEST(DiagnoseBias, SaysWhenNothingFits) {
  const auto noise =
      make_bias(2, 6, 6, [](auto h, auto q, auto k) { return std::sin(static_cast<double>(h * 40 + q * 7 + k * k)); });
  const BiasDiagnosis diagnosis = diagnose_bias(noise);
  EXPECT_FALSE(diagnosis.toeplitz);
  EXPECT_EQ(first_of(diagnosis), "unexplained");
  EXPECT_LT(diagnosis.verdicts.front().confidence, confident);
  const auto zero = make_bias(2, 6, 6, [](auto, auto, auto) { return 0.0; });
  EXPECT_EQ(first_of(diagnose_bias(zero)), "no_bias");
}

TEST(DiagnoseBias, RefusesWhatIsNoBias) {
  BiasDump dump = make_bias(2, 3, 3, [](auto, auto, auto) { return 1.0; });
  EXPECT_THROW(diagnose_bias(dump, Encoding("alibi", {{"heads", 4}})), Error);
  EXPECT_THROW(diagnose_bias(dump, Encoding("rope", {{"head_dim", 64}, {"pairing", "half"}})), Error);
  dump.bias[3] = std::nan("");
  EXPECT_THROW(diagnose_bias(dump), Error);
  dump.bias.pop_back();
  EXPECT_THROW(diagnose_bias(dump), Error);
  EXPECT_THROW(diagnose_bias({1, 4, 3, std::vector<double>(12)}), Error);
}

// ln f of token t in head h; all different.
double log_gate(std::int64_t head, std::int64_t token) {
  return -0.01 * static_cast<double>(1 + head) - 0.03 * static_cast<double>(token * 7 % 5);
}

// Lin et al. 2025, arXiv 2503.02130: the bias of query i and key j is the sum of ln f_l over j < l <= i.
TEST(DiagnoseBias, SumsOfGates) {
  const Encoding forget("forget_gate", {{"heads", 2}});
  const auto judged = [&](std::int64_t first, std::int64_t last, double sign) {
    BiasDump dump = make_bias(2, 6, 9, [&](std::int64_t h, std::int64_t q, std::int64_t k) {
      double sum = 0;
      for (std::int64_t token = k + first; token <= q + last; ++token) sum += sign * log_gate(h, token);
      return k > q ? -std::numeric_limits<double>::infinity() : sum;
    });
    for (std::int64_t n = 0; n < 2 * 9; ++n) dump.gates.push_back(log_gate(n / 9, n % 9));
    return diagnose_bias(dump, forget);
  };
  EXPECT_TRUE(judged(1, 0, 1).as_expected());
  EXPECT_EQ(first_of(judged(1, 0, -1)), "gates_negated");
  EXPECT_EQ(first_of(judged(0, 0, 1)), "gates_off_by_one");
  EXPECT_EQ(first_of(judged(0, -1, 1)), "gates_off_by_one");
  EXPECT_EQ(first_of(judged(1, -1, 1)), "gates_off_by_one");
  EXPECT_EQ(first_of(judged(1, 0, 0)), "gates_missing");
  EXPECT_EQ(first_of(judged(1, 0, 2)), "unexplained");
}

TEST(DiagnoseBias, GatesAreRefusedWhereNobodyAddsThem) {
  BiasDump dump = make_bias(2, 2, 3, [](std::int64_t, std::int64_t, std::int64_t) { return 0.0; });
  EXPECT_THROW(diagnose_bias(dump, Encoding("forget_gate", {{"heads", 2}})), Error);
  dump.gates = {1, 2, 3, 4, 5, 6};
  EXPECT_THROW(diagnose_bias(dump, Encoding("alibi", {{"heads", 2}})), Error);
  EXPECT_THROW(diagnose_bias(dump), Error);
  dump.gates.pop_back();
  EXPECT_THROW(diagnose_bias(dump, Encoding("forget_gate", {{"heads", 2}})), Error);
}

// Golovneva et al. 2024, arXiv 2405.18719, equations 3 to 6, for two heads over one key head of width 4.
struct Counting {
  bool gates = true, scaled = true, from_first = false, own = true, interpolated = true, exchanged = false,
       later = false;
  double factor = 1;  ///< of the term
};

double dump_number(std::int64_t n) { return std::sin(1.7 * static_cast<double>(n) + 0.3) * 1.5; }

BiasDump counted(const Counting& how) {
  constexpr std::int64_t dim = 4, rows = 5;
  const auto query = [](std::int64_t h, std::int64_t q, std::int64_t j) { return dump_number((h * 7 + q) * dim + j); };
  const auto key = [](std::int64_t k, std::int64_t j) { return dump_number(1000 + k * dim + j); };
  const auto row = [](std::int64_t r, std::int64_t j) {
    return static_cast<double>(static_cast<float>(dump_number(2000 + r * dim + j)));
  };
  const auto gate = [&](std::int64_t h, std::int64_t q, std::int64_t k) {
    double product = 0;
    for (std::int64_t j = 0; j < dim; ++j) product += query(h, q, j) * key(k, j);
    return how.gates ? 1 / (1 + std::exp(-product * (how.scaled ? 0.5 : 1.0))) : 1.0;
  };
  BiasDump dump = make_bias(2, 7, 7, [&](std::int64_t h, std::int64_t q, std::int64_t k) {
    if (k > q) return -std::numeric_limits<double>::infinity();
    double count = 0;
    const std::int64_t first = how.from_first ? 0 : k, last = how.from_first ? k : how.later ? 6 : q;
    for (std::int64_t t = first; t <= last; ++t) count += t == k && !how.own ? 0 : gate(h, q, t);
    count = std::min(count, static_cast<double>(rows - 1));
    const auto below = static_cast<std::int64_t>(count), above = std::min(below + 1, rows - 1);
    double share = how.interpolated ? count - static_cast<double>(below) : 0;
    if (how.exchanged && share > 0) share = 1 - share;
    double sum = 0;
    for (std::int64_t j = 0; j < dim; ++j) {
      sum += query(h, q, j) * ((1 - share) * row(below, j) + share * row(above, j));
    }
    return how.factor * sum;
  });
  dump.key_heads = 1;
  for (std::int64_t n = 0; n < 2 * 7 * dim; ++n) dump.query_vectors.push_back(query(n / 28, n / dim % 7, n % dim));
  for (std::int64_t n = 0; n < 7 * dim; ++n) dump.key_vectors.push_back(key(n / dim, n % dim));
  return dump;
}

Encoding counting_encoding() {
  Tensor table{{5, 4}, {}};
  for (std::int64_t n = 0; n < 20; ++n) table.data.push_back(static_cast<float>(dump_number(2000 + n)));
  return Encoding("cope", {{"heads", 2}, {"head_dim", 4}, {"max_positions", 5}, {"table", table}});
}

TEST(DiagnoseBias, CountsOfGates) {
  const auto judged = [](const Counting& how) { return diagnose_bias(counted(how), counting_encoding()); };
  EXPECT_TRUE(judged({}).as_expected());
  EXPECT_EQ(first_of(judged({.gates = false})), "counts_ignore_gates");
  EXPECT_EQ(first_of(judged({.scaled = false})), "counts_gate_scale");
  EXPECT_EQ(first_of(judged({.from_first = true})), "counts_from_the_wrong_end");
  EXPECT_EQ(first_of(judged({.own = false})), "counts_off_by_one");
  EXPECT_EQ(first_of(judged({.interpolated = false})), "counts_not_interpolated");
  EXPECT_EQ(first_of(judged({.exchanged = true})), "counts_shares_exchanged");
  EXPECT_EQ(first_of(judged({.later = true})), "counts_unmasked");
  EXPECT_EQ(first_of(judged({.factor = 0.5})), "counts_term_scaled");
  EXPECT_EQ(first_of(judged({.factor = 0})), "counts_missing");
  EXPECT_EQ(first_of(judged({.factor = -1})), "unexplained");
}

TEST(DiagnoseBias, QueriesAndKeysAreRefusedWhereNothingCounts) {
  BiasDump dump = counted({});
  EXPECT_THROW(diagnose_bias(dump), Error);
  EXPECT_THROW(diagnose_bias(dump, Encoding("alibi", {{"heads", 2}})), Error);
  dump.key_vectors.pop_back();
  EXPECT_THROW(diagnose_bias(dump, counting_encoding()), Error);
  dump.key_vectors.clear();
  EXPECT_THROW(diagnose_bias(dump, counting_encoding()), Error);
}

}  // namespace
}  // namespace locus::testing
