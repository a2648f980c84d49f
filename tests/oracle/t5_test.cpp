// SPDX-License-Identifier: Apache-2.0
// t5/: buckets and bias tensors of transformers.
#include <compare>

#include "locus/bias.h"
#include "locus/positions.h"
#include "oracle_check.h"

namespace locus::testing {
namespace {

/// A natural number as base 2^32 digits, lowest first: enough to compare products of powers exactly.
class Natural {
 public:
  Natural& times(std::int64_t factor) {
    std::uint64_t carry = 0;
    for (std::uint32_t& digit : digits_) {
      carry += std::uint64_t{digit} * static_cast<std::uint64_t>(factor);
      digit = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) digits_.push_back(static_cast<std::uint32_t>(carry));
    return *this;
  }
  Natural& times_power(std::int64_t base, std::int64_t exponent) {
    for (std::int64_t i = 0; i < exponent; ++i) times(base);
    return *this;
  }
  friend std::strong_ordering operator<=>(const Natural& a, const Natural& b) {
    if (a.digits_.size() != b.digits_.size()) return a.digits_.size() <=> b.digits_.size();
    for (std::size_t i = a.digits_.size(); i-- > 0;) {
      if (a.digits_[i] != b.digits_[i]) return a.digits_[i] <=> b.digits_[i];
    }
    return std::strong_ordering::equal;
  }

 private:
  std::vector<std::uint32_t> digits_ = {1};
};

struct Bucket {
  std::int64_t index;
  bool at_threshold;  ///< the logarithm is a whole number: float arithmetic may fall on either side
};

/// The published rule in integers. With n logarithmic buckets from e on, distance r is in step j or later if
/// ln(r/e) / ln(D/e) n >= j, that is r^n e^j >= e^n D^j.
Bucket defined_bucket(std::int64_t offset, std::int64_t buckets, std::int64_t max_distance, bool bidirectional) {
  std::int64_t first = 0;
  std::int64_t distance = offset < 0 ? -offset : 0;
  if (bidirectional) {
    buckets /= 2;
    if (offset > 0) {
      first = buckets;
      distance = offset;
    }
  }
  const std::int64_t exact = buckets / 2;
  if (distance < exact) return {first + distance, false};
  const std::int64_t steps = buckets - exact;
  Bucket result{first + exact, false};
  for (std::int64_t j = 0; j <= steps; ++j) {
    const Natural left = Natural().times_power(distance, steps).times_power(exact, j);
    const Natural right = Natural().times_power(exact, steps).times_power(max_distance, j);
    if (left < right) break;
    result.index = first + std::min(exact + j, buckets - 1);
    result.at_threshold = (left <=> right) == std::strong_ordering::equal;
  }
  return result;
}

class T5OracleFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    peer_ = oracle_json("t5/buckets.json");
    offsets_ = peer_.at("offsets").get<std::vector<std::int64_t>>();
    ASSERT_FALSE(peer_.at("cases").empty());
  }

  static Encoding encoding(const Json& entry, const std::string& profile) {
    return Encoding("t5", {{"heads", std::int64_t{1}},
                           {"num_buckets", entry.at("num_buckets").get<std::int64_t>()},
                           {"max_distance", entry.at("max_distance").get<std::int64_t>()},
                           {"bidirectional", entry.at("bidirectional").get<bool>()},
                           {"profile", profile}});
  }

  std::vector<std::int64_t> buckets(const Encoding& t5) const {
    const Position query = 1000000;
    std::vector<Position> keys;
    for (const std::int64_t offset : offsets_) keys.push_back(query + offset);
    return bucket_matrix(t5, std::span(&query, 1), keys);
  }

  Json peer_;
  std::vector<std::int64_t> offsets_;
};

TEST_F(T5OracleFiles, ProfileHfHasTheBucketsOfFloat32) {
  for (const Json& entry : peer_.at("cases")) {
    EXPECT_EQ(buckets(encoding(entry, "hf")), entry.at("buckets_f32").get<std::vector<std::int64_t>>())
        << entry.at("num_buckets") << ", " << entry.at("max_distance") << ", " << entry.at("bidirectional");
  }
}

// Double arithmetic agrees with the definition except where the logarithm is an integer, which it may miss.
TEST_F(T5OracleFiles, ExactBucketsFollowTheDefinition) {
  std::size_t missed_by_double = 0;
  for (const Json& entry : peer_.at("cases")) {
    const auto peer = entry.at("buckets_f64").get<std::vector<std::int64_t>>();
    const std::vector<std::int64_t> got = buckets(encoding(entry, "exact"));
    ASSERT_EQ(got.size(), peer.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const Bucket want =
          defined_bucket(offsets_[i], entry.at("num_buckets"), entry.at("max_distance"), entry.at("bidirectional"));
      const std::string where = entry.at("num_buckets").dump() + " buckets to " + entry.at("max_distance").dump() +
                                ", offset " + std::to_string(offsets_[i]);
      EXPECT_EQ(got[i], want.index) << where;
      if (got[i] == peer[i]) continue;
      ++missed_by_double;
      EXPECT_TRUE(want.at_threshold) << where << ": double has " << peer[i];
      RecordProperty("missed_by_double_" + std::to_string(missed_by_double), where);
    }
  }
}

class T5Oracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"t5", GetParam()};
  std::int64_t integer(const char* key) const { return peer_.json().at(key).get<std::int64_t>(); }
};

INSTANTIATE_TEST_SUITE_P(Oracle, T5Oracle, ::testing::ValuesIn(oracle_cases("t5")), case_name);

TEST_P(T5Oracle, BiasToTheBit) {
  const std::vector<Position> queries = positions::decode(integer("past_seen_tokens"), integer("query_length")).ids;
  const std::vector<Position> keys = positions::prefill(integer("key_length")).ids;
  for (const char* profile : {"exact", "hf"}) {
    const Encoding t5("t5", {{"heads", integer("num_heads")},
                             {"num_buckets", integer("num_buckets")},
                             {"max_distance", integer("max_distance")},
                             {"bidirectional", peer_.json().at("bidirectional").get<bool>()},
                             {"table", tensor_of(peer_, "table")},
                             {"profile", std::string(profile)}});
    const std::vector<double> got = bias_matrix(t5, queries, keys);
    EXPECT_EQ(got, peer_.doubles("bias_f64")) << profile;
    EXPECT_EQ(got, peer_.doubles("bias_f32")) << profile;
  }
}

}  // namespace
}  // namespace locus::testing
