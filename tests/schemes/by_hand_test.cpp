// SPDX-License-Identifier: Apache-2.0
// Schemes at values worked by hand, from the formulas of their papers.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/positions.h"
#include "locus/reference.h"
#include "locus/rotate.h"
#include "locus/rows.h"

namespace locus {
namespace {

TEST(ByHand, SinusoidsAtZeroAreZeroAndOne) {
  std::vector<double> row(6);
  hidden_row(Encoding("sinusoidal", {{"dim", 6}}).hidden(), 0, std::span<double>(row));
  EXPECT_EQ(row, (std::vector<double>{0, 1, 0, 1, 0, 1}));
  hidden_row(Encoding("sinusoidal", {{"dim", 6}, {"arrangement", "concatenated"}}).hidden(), 0, std::span<double>(row));
  EXPECT_EQ(row, (std::vector<double>{0, 0, 0, 1, 1, 1}));
}

// One pair turns by one radian per position. q = (1, 0) at 7 is (cos 7, sin 7); k = (.5, .5) at 4 is
// (.5 cos 4 - .5 sin 4, .5 sin 4 + .5 cos 4); their product is .5 cos 3 + .5 sin 3 = -0.42443624... by the addition
// theorems: .5 (cos 7 cos 4 + sin 7 sin 4) + .5 (sin 7 cos 4 - cos 7 sin 4).
TEST(ByHand, RopeOfOnePair) {
  const Encoding encoding("rope", {{"head_dim", 2}, {"pairing", "half"}});
  std::array<double, 2> q{1, 0}, k{0.5, 0.5};
  const std::int64_t extents[] = {1, 2};
  rotate(encoding, heads_view(q.data(), ElementType::float64, "td", extents), positions::prefill(1, 7), Role::query);
  rotate(encoding, heads_view(k.data(), ElementType::float64, "td", extents), positions::prefill(1, 4), Role::key);
  EXPECT_NEAR(q[0], 0.7539022543433046, 1e-15);  // cos 7
  EXPECT_NEAR(q[1], 0.6569865987187891, 1e-15);  // sin 7
  EXPECT_NEAR(k[0], (-0.6536436208636119 + 0.7568024953079282) / 2, 1e-15);
  EXPECT_NEAR(k[1], (-0.7568024953079282 - 0.6536436208636119) / 2, 1e-15);
  EXPECT_NEAR(q[0] * k[0] + q[1] * k[1], (-0.9899924966004454 + 0.1411200080598672) / 2, 2e-15);
}

TEST(ByHand, AlibiSlopes) {
  const Encoding eight("alibi", {{"heads", 8}});
  EXPECT_EQ(eight.score().slopes,
            (std::vector<double>{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}));
  // 12 heads: the eight, then every second of the sixteen 2^(-1/2), 2^(-3/2), ...
  const Encoding twelve("alibi", {{"heads", 12}});
  ASSERT_EQ(twelve.score().slopes.size(), 12u);
  for (std::size_t h = 0; h < 8; ++h) EXPECT_EQ(twelve.score().slopes[h], eight.score().slopes[h]);
  for (std::size_t h = 0; h < 4; ++h) {
    EXPECT_NEAR(twelve.score().slopes[8 + h], std::sqrt(0.5) / std::pow(2, static_cast<double>(h)), 0x1p-53);
  }
}

// The last query of five tokens: 4 to 0 steps back, half a point each in the first of eight heads.
TEST(ByHand, AlibiOfFiveTokens) {
  const Encoding causal("alibi", {{"heads", 8}});
  const Encoding bloom("alibi", {{"heads", 8}, {"form", "bloom"}});
  const Encoding mpt("alibi", {{"heads", 8}, {"form", "mpt"}, {"length", 5}});
  for (Position key = 0; key < 5; ++key) {
    const auto steps = static_cast<double>(4 - key);
    EXPECT_EQ(causal.score().value(0, 4, key), -0.5 * steps);
    EXPECT_EQ(causal.score().value(7, 4, key), -steps / 256);
    EXPECT_EQ(mpt.score().value(0, 4, key), -0.5 * steps);
    EXPECT_EQ(bloom.score().value(0, 4, key), 0.5 * static_cast<double>(key));
  }
  EXPECT_EQ(causal.score().value(0, 2, 4), 0) << "the future carries no penalty";
}

// 32 buckets, 128: per sign 16, the first 8 exact, then 8 ln(n/8) / ln 16 more: 11 at 8 * 16^(3/8) = 22.6.
TEST(ByHand, T5Buckets) {
  const Encoding both("t5", {{"heads", 1}});
  const auto bucket = [&](Position offset) { return both.score().bucket(0, offset); };
  EXPECT_EQ(bucket(0), 0);
  EXPECT_EQ(bucket(-7), 7);
  EXPECT_EQ(bucket(-8), 8);
  EXPECT_EQ(bucket(-22), 10);
  EXPECT_EQ(bucket(-23), 11);
  EXPECT_EQ(bucket(1), 17);
  EXPECT_EQ(bucket(8), 24);
  EXPECT_EQ(bucket(-32), 12);  // 8 * 16^(4/8) = 32 exactly: the threshold belongs to the bucket it opens
  EXPECT_EQ(bucket(-31), 11);
}

TEST(ByHand, T5BucketsRiseAndSaturate) {
  for (const bool bidirectional : {true, false}) {
    for (const std::int64_t num_buckets : {8, 20, 32, 64}) {
      const Encoding encoding(
          "t5", {{"heads", 1}, {"num_buckets", num_buckets}, {"max_distance", 160}, {"bidirectional", bidirectional}});
      const std::int64_t per_sign = bidirectional ? num_buckets / 2 : num_buckets;
      std::set<std::int64_t> past;
      std::int64_t last = 0;
      for (Position distance = 0; distance < 1000; ++distance) {
        const std::int64_t bucket = encoding.score().bucket(1000, 1000 - distance);
        EXPECT_GE(bucket, last) << distance;
        EXPECT_LE(bucket, last + 1) << distance;
        last = bucket;
        past.insert(bucket);
        if (distance >= 160) {
          EXPECT_EQ(bucket, per_sign - 1) << distance;
        }
        const std::int64_t future = encoding.score().bucket(0, distance);
        EXPECT_EQ(future, bidirectional && distance > 0 ? bucket + per_sign : 0) << distance;
      }
      EXPECT_EQ(static_cast<std::int64_t>(past.size()), per_sign) << "every bucket is used";
      EXPECT_EQ(encoding.score().bucket(max_position, -max_position), per_sign - 1);
    }
  }
}

// Rows of the table by offset key - query, at and beyond both ends, in both orders.
TEST(ByHand, ShawClipsAtBothEnds) {
  const Encoding forward("shaw", {{"heads", 1}, {"head_dim", 1}, {"clip_left", 3}, {"clip_right", 1}});
  const Encoding backward(
      "shaw", {{"heads", 1}, {"head_dim", 1}, {"clip_left", 3}, {"clip_right", 1}, {"index", "query_minus_key"}});
  const std::vector<std::pair<Position, std::int64_t>> rows = {{-9, 0}, {-4, 0}, {-3, 0}, {-2, 1}, {-1, 2},
                                                               {0, 3},  {1, 4},  {2, 4},  {9, 4}};
  for (const auto& [offset, row] : rows) {
    EXPECT_EQ(forward.relative_keys().index(100, 100 + offset), row) << offset;
    EXPECT_EQ(backward.relative_keys().index(100, 100 + offset), 4 - row) << offset;
  }
  const Encoding strict("shaw", {{"heads", 1}, {"head_dim", 1}, {"clip_left", 3}, {"clip", false}});
  EXPECT_EQ(strict.relative_keys().index(10, 7), 0);
  EXPECT_THROW(strict.relative_keys().index(10, 6), Error);
  EXPECT_THROW(strict.relative_keys().index(10, 14), Error);
}

// score = scale (q . k) + q . a, or scale (q . (k + a)), or with k . a as well.
TEST(ByHand, ShawScores) {
  const Tensor table{{3, 2}, {1, 2, 3, 4, 5, 6}};
  Arguments arguments{{"heads", 1}, {"head_dim", 2}, {"clip_left", 1}, {"key_table", table}};
  const std::vector<double> q{1, 10}, k{2, 1};
  const auto score = [&](Position query, Position key) {
    return reference::relative_score(Encoding("shaw", arguments).relative_keys(), 0, {q, k, query, key}, 0.5);
  };
  EXPECT_EQ(score(5, 4), 0.5 * (12 + 21));  // row 0: (1, 2)
  EXPECT_EQ(score(5, 9), 0.5 * (12 + 65));  // row 2: (5, 6)
  arguments.set("index", std::string("query_minus_key"));
  EXPECT_EQ(score(5, 9), 0.5 * (12 + 21));
  arguments.set("scaled", false);
  EXPECT_EQ(score(5, 9), 0.5 * 12 + 21);
  arguments.set("meets_key", true);
  EXPECT_EQ(score(5, 9), 0.5 * 12 + 21 + 4);
}

// The published code: BD = (q + v) . W_r R for the distances klen - 1 ... 0, a zero column padded on the left, the
// matrix read anew with klen + 1 rows, the first row dropped. Right of the causal diagonal that leaves junk.
TEST(ByHand, TransformerXlMatchesTheRelativeShift) {
  const std::size_t memory = 3, queries = 5, heads = 2, head_dim = 4, model_dim = 6;
  const std::size_t klen = memory + queries;
  const Encoding encoding("transformer_xl",
                          {{"heads", 2}, {"head_dim", 4}, {"model_dim", 6}, {"deviation", 0.5}, {"seed", 9}});
  const RelativeKeys& keys = encoding.relative_keys();
  const auto w_r = [&](std::size_t row, std::size_t column) {
    return static_cast<double>(keys.w_r.data[row * model_dim + column]);
  };
  const auto vector_at = [&](std::size_t seed) {
    std::vector<double> vector;
    for (std::size_t j = 0; j < head_dim; ++j) vector.push_back(std::sin(static_cast<double>(7 * seed + 3 * j + 1)));
    return vector;
  };
  for (std::size_t head = 0; head < heads; ++head) {
    const auto bias = [&](const Tensor& tensor, std::size_t j) {
      return static_cast<double>(tensor.data[head * head_dim + j]);
    };
    std::vector<double> padded;  // [queries, klen + 1]
    for (std::size_t i = 0; i < queries; ++i) {
      padded.push_back(0);
      const auto q = vector_at(i);
      for (std::size_t column = 0; column < klen; ++column) {
        const auto distance = static_cast<double>(klen - 1 - column);
        double sum = 0;
        for (std::size_t j = 0; j < head_dim; ++j) {
          double projected = 0;
          for (std::size_t m = 0; m < model_dim; ++m) {
            const double angle = distance * std::pow(10000.0, -2.0 * static_cast<double>(m % 3) / 6.0);
            projected += w_r(head * head_dim + j, m) * (m < 3 ? std::sin(angle) : std::cos(angle));
          }
          sum += (q[j] + bias(keys.v, j)) * projected;
        }
        padded.push_back(sum);
      }
    }
    const std::vector<double> shifted(padded.begin() + static_cast<std::ptrdiff_t>(queries), padded.end());
    for (std::size_t i = 0; i < queries; ++i) {
      for (std::size_t j = 0; j <= i + memory; ++j) {
        const auto q = vector_at(i);
        const auto k = vector_at(100 + j);
        double content = 0;
        for (std::size_t c = 0; c < head_dim; ++c) content += (q[c] + bias(keys.u, c)) * k[c];
        const double want = 0.5 * (content + shifted[i * klen + j]);
        const double got =
            reference::relative_score(keys, static_cast<std::int64_t>(head),
                                      {q, k, static_cast<Position>(memory + i), static_cast<Position>(j)}, 0.5);
        EXPECT_NEAR(got, want, 1e-13) << "head " << head << " query " << i << " key " << j;  // 40 roundings of ~10
      }
    }
  }
}

}  // namespace
}  // namespace locus
