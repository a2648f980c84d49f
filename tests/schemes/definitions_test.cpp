// SPDX-License-Identifier: Apache-2.0
// Compares every score and relative-key scheme with an independent implementation of its paper's definition, over
// random ids: negative, repeated and at the ends of the range.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "locus/encoding.h"
#include "locus/error.h"

namespace locus {
namespace {

using Int = std::int64_t;

constexpr Int last = (Int{1} << 31) - 1;

/// Pairs of ids: near each other, far apart, at the ends of the range, equal.
std::vector<std::pair<Int, Int>> pairs_of_ids(bool negative = true) {
  std::mt19937_64 random(7);
  const auto upto = [&](Int most) { return static_cast<Int>(random() % static_cast<std::uint64_t>(most + 1)); };
  std::vector<std::pair<Int, Int>> pairs{{0, 0}, {last, last}, {last, 0}, {0, last}};
  if (negative) pairs.insert(pairs.end(), {{-last, last}, {last, -last}, {-last, -last}, {-1, 0}, {0, -1}, {-5, -9}});
  for (int i = 0; i < 3000; ++i) {
    const Int reach[] = {4, 40, 300, 5000, 1'000'000, last};
    const Int most = reach[upto(5)];
    Int a = upto(most), b = upto(most);
    if (negative && upto(1) == 0) a -= most, b -= most;
    if (negative && upto(3) == 0) b = -b;
    pairs.emplace_back(std::clamp(a, -last, last), std::clamp(b, -last, last));
  }
  return pairs;
}

void expect_close(double got, double want, const char* what, Int query, Int key) {
  EXPECT_NEAR(got, want, 1e-12 * std::fabs(want)) << what << ": query " << query << ", key " << key;
}

// ---- ALiBi, as its authors compute the slopes: by halves of the number of heads

std::vector<double> published_slopes(Int heads) {
  const auto power = static_cast<Int>(std::pow(2.0, std::floor(std::log2(static_cast<double>(heads)))));
  std::vector<double> slopes;
  const double start = std::pow(2.0, -std::pow(2.0, -(std::log2(static_cast<double>(power)) - 3)));
  for (Int i = 0; i < power; ++i) slopes.push_back(start * std::pow(start, static_cast<double>(i)));
  if (power == heads) return slopes;
  const std::vector<double> finer = published_slopes(2 * power);
  for (Int i = 0; static_cast<Int>(slopes.size()) < heads; i += 2) slopes.push_back(finer[static_cast<std::size_t>(i)]);
  return slopes;
}

TEST(SchemeDefinitions, Alibi) {
  for (const Int heads : {1, 2, 3, 5, 8, 12, 20, 31, 64, 71, 112}) {
    const std::vector<double> slopes = published_slopes(heads);
    const Encoding causal("alibi", {{"heads", heads}, {"form", "causal"}});
    const Encoding symmetric("alibi", {{"heads", heads}, {"form", "symmetric"}});
    const Encoding bloom("alibi", {{"heads", heads}, {"form", "bloom"}});
    const Encoding mpt("alibi", {{"heads", heads}, {"form", "mpt"}, {"length", 77}});
    for (const auto& [query, key] : pairs_of_ids()) {
      const Int head = (query ^ key) & 0xFF ? std::abs(query + key) % heads : heads - 1;
      const double slope = slopes[static_cast<std::size_t>(head)];
      const double distance = static_cast<double>(query) - static_cast<double>(key);
      expect_close(causal.score().value(head, query, key), key <= query ? -slope * distance : 0, "causal", query, key);
      expect_close(symmetric.score().value(head, query, key), -slope * std::fabs(distance), "symmetric", query, key);
      expect_close(bloom.score().value(head, query, key), slope * static_cast<double>(key), "bloom", query, key);
      expect_close(mpt.score().value(head, query, key), slope * (static_cast<double>(key) - 76), "mpt", query, key);
    }
  }
}

// ---- buckets

/// floor(x) of a real that is known to about 1e-15 and is either an integer or far from one.
Int floor_exactly(long double x) {
  const long double nearest = std::round(x);
  return static_cast<Int>(std::fabs(x - nearest) < 1e-12L ? nearest : std::floor(x));
}
Int ceil_exactly(long double x) { return -floor_exactly(-x); }

Int t5_bucket(Int offset, Int buckets, Int max_distance, bool bidirectional) {
  Int bucket = 0, distance = offset;
  if (bidirectional) {
    buckets /= 2;
    if (offset > 0) bucket = buckets;
    distance = std::abs(offset);
  } else {
    distance = offset < 0 ? -offset : 0;
  }
  const Int exact = buckets / 2;
  if (distance < exact) return bucket + distance;
  const long double share = std::log(static_cast<long double>(distance) / static_cast<long double>(exact)) /
                            std::log(static_cast<long double>(max_distance) / static_cast<long double>(exact));
  const Int large = exact + floor_exactly(share * static_cast<long double>(buckets - exact));
  return bucket + std::min(large, buckets - 1);
}

TEST(SchemeDefinitions, T5Buckets) {
  for (const auto& [buckets, max_distance] :
       {std::pair<Int, Int>{32, 128}, {20, 160}, {8, 16}, {64, 1000}, {6, 200}, {32, 100'000}}) {
    for (const bool bidirectional : {true, false}) {
      Tensor table{{buckets, 1}, {}};
      for (Int i = 0; i < buckets; ++i) table.data.push_back(static_cast<float>(i) + 0.5f);
      const Encoding encoding("t5", {{"heads", 1},
                                     {"num_buckets", buckets},
                                     {"max_distance", max_distance},
                                     {"bidirectional", bidirectional},
                                     {"table", table}});
      const auto check = [&, buckets = buckets, max_distance = max_distance](Int query, Int key) {
        const Int want = t5_bucket(key - query, buckets, max_distance, bidirectional);
        EXPECT_EQ(encoding.score().bucket(query, key), want) << query << " " << key << " of " << buckets;
        EXPECT_EQ(encoding.score().value(0, query, key), static_cast<double>(want) + 0.5);
      };
      for (Int offset = -2 * max_distance; offset <= 2 * max_distance; offset += max_distance > 1000 ? 97 : 1) {
        check(0, offset);
        check(-offset - 3, -3);
      }
      for (const auto& [query, key] : pairs_of_ids()) check(query, key);
    }
  }
}

Int deberta_bucket(Int r, Int bucket_size, Int max_position) {
  const Int mid = bucket_size / 2;
  Int bucket = r;
  if (std::abs(r) > mid) {
    const long double share = std::log(static_cast<long double>(std::abs(r)) / static_cast<long double>(mid)) /
                              std::log(static_cast<long double>(max_position - 1) / static_cast<long double>(mid));
    bucket = (r < 0 ? -1 : 1) * (mid + ceil_exactly(share * static_cast<long double>(mid - 1)));
  }
  return std::clamp<Int>(bucket + bucket_size, 0, 2 * bucket_size - 1);
}

TEST(SchemeDefinitions, RelativeBiasIndices) {
  const Encoding clipped("relative_bias", {{"heads", 1}, {"clip_left", 5}, {"clip_right", 3}});
  const Encoding deberta("relative_bias",
                         {{"heads", 1}, {"index", "deberta"}, {"bucket_size", 256}, {"max_position", 512}});
  for (const auto& [query, key] : pairs_of_ids()) {
    Int row = 5;  // counted, not clipped
    for (Int i = 0; i < std::min<Int>(5, query - key); ++i) --row;
    for (Int i = 0; i < std::min<Int>(3, key - query); ++i) ++row;
    EXPECT_EQ(clipped.score().bucket(query, key), row) << query << " " << key;
    EXPECT_EQ(deberta.score().bucket(query, key), deberta_bucket(query - key, 256, 512)) << query << " " << key;
  }
  // A row for each index that occurs, and no other: 5 to the left, the query itself, 3 to the right.
  EXPECT_EQ(clipped.score().table.shape, (std::vector<Int>{5 + 1 + 3, 1}));
  EXPECT_EQ(clipped.score().buckets, 9);
  EXPECT_EQ(deberta.score().table.shape, (std::vector<Int>{2 * 256, 1}));
}

TEST(SchemeDefinitions, SwinIndicesCountDifferencesOfCells) {
  const Int height = 3, width = 5;
  const Encoding swin("relative_bias",
                      {{"heads", 1}, {"index", "swin"}, {"window_height", height}, {"window_width", width}});
  // Differences in the order of their index: rows from -(h - 1), and in each columns from -(w - 1).
  std::vector<std::pair<Int, Int>> order;
  for (Int dy = -(height - 1); dy < height; ++dy) {
    for (Int dx = -(width - 1); dx < width; ++dx) order.emplace_back(dy, dx);
  }
  for (Int qy = 0; qy < height; ++qy) {
    for (Int qx = 0; qx < width; ++qx) {
      for (Int ky = 0; ky < height; ++ky) {
        for (Int kx = 0; kx < width; ++kx) {
          const Int index = swin.score().bucket(qy * width + qx, ky * width + kx);
          ASSERT_GE(index, 0);
          ASSERT_LT(index, static_cast<Int>(order.size()));
          EXPECT_EQ(order[static_cast<std::size_t>(index)], std::pair(qy - ky, qx - kx));
        }
      }
    }
  }
}

// ---- functions of the distance

TEST(SchemeDefinitions, Kerple) {
  const std::vector<double> r1{0.3, 2.0}, r2{0.7, 1.5};
  const Encoding logarithm("kerple", {{"heads", 2}, {"form", "log"}, {"r1", r1}, {"r2", r2}});
  const Encoding power("kerple", {{"heads", 2}, {"form", "power"}, {"r1", r1}, {"r2", r2}});
  for (const auto& [query, key] : pairs_of_ids()) {
    for (const std::size_t head : {std::size_t{0}, std::size_t{1}}) {
      const double n = std::fabs(static_cast<double>(query) - static_cast<double>(key));
      const auto h = static_cast<Int>(head);
      expect_close(logarithm.score().value(h, query, key), -r1[head] * std::log(1 + r2[head] * n), "log", query, key);
      const double grown = n == 0 ? 0 : std::exp(r2[head] * std::log(n));
      EXPECT_NEAR(power.score().value(h, query, key), -r1[head] * grown, 1e-12 * (1 + grown)) << query << " " << key;
    }
  }
}

// The inner product of the sinusoidal rows of both positions, the origin of the cosines.
TEST(SchemeDefinitions, Sandwich) {
  const Int heads = 6, dim = 16;
  const Encoding sandwich("sandwich", {{"heads", heads}, {"dim", dim}});
  for (const auto& [query, key] : pairs_of_ids()) {
    if (std::abs(query) > 100'000 || std::abs(key) > 100'000)
      continue;  // long double angles are exact enough up to here
    long double product = 0;
    for (Int i = 0; i < dim / 2; ++i) {
      const long double w = std::pow(10000.0L, -2.0L * static_cast<long double>(i) / static_cast<long double>(dim));
      const long double a = w * static_cast<long double>(query), b = w * static_cast<long double>(key);
      product += std::sin(a) * std::sin(b) + std::cos(a) * std::cos(b);
    }
    for (Int head = 0; head < heads; ++head) {
      const long double factor = static_cast<long double>(heads) / (8.0L * static_cast<long double>(head + 1));
      EXPECT_NEAR(sandwich.score().value(head, query, key), static_cast<double>(product * factor), 1e-9)
          << query << " " << key;
    }
  }
}

// ---- rows of a table

TEST(SchemeDefinitions, ShawIndices) {
  const Int left = 4, right = 2;
  const Arguments shape{{"heads", 1}, {"head_dim", 2}, {"clip_left", left}, {"clip_right", right}};
  Arguments other = shape, strict = shape;
  other.set("index", "query_minus_key");
  strict.set("clip", false);
  const Encoding forward("shaw", shape), backward("shaw", other), unclipped("shaw", strict);
  for (const auto& [query, key] : pairs_of_ids()) {
    Int row = left;
    for (Int i = 0; i < std::min(left, query - key); ++i) --row;
    for (Int i = 0; i < std::min(right, key - query); ++i) ++row;
    EXPECT_EQ(forward.relative_keys().index(query, key), row) << query << " " << key;
    EXPECT_EQ(backward.relative_keys().index(query, key), left + right - row) << query << " " << key;
    const bool in_table = key - query >= -left && key - query <= right;
    if (in_table) {
      EXPECT_EQ(unclipped.relative_keys().index(query, key), row) << query << " " << key;
    } else {
      EXPECT_THROW(unclipped.relative_keys().index(query, key), Error) << query << " " << key;
    }
  }
}

}  // namespace
}  // namespace locus
