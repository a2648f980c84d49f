// SPDX-License-Identifier: Apache-2.0
// deberta/: log buckets of transformers, which clamps them into the table only when it looks them up.
#include <algorithm>

#include "locus/bias.h"
#include "oracle_check.h"

namespace locus::testing {
namespace {

TEST(DebertaOracleFiles, LogBuckets) {
  const Json peer = oracle_json("deberta/log_buckets.json");
  const auto offsets = peer.at("offsets").get<std::vector<std::int64_t>>();
  ASSERT_EQ(peer.at("cases").size(), 2U);
  const Position key = 1000000;
  std::vector<Position> queries;
  for (const std::int64_t offset : offsets) queries.push_back(key + offset);  // offset = query - key
  for (const Json& entry : peer.at("cases")) {
    const auto bucket_size = entry.at("bucket_size").get<std::int64_t>();
    auto want = entry.at("buckets").get<std::vector<std::int64_t>>();
    for (std::int64_t& bucket : want) bucket = std::clamp(bucket + bucket_size, std::int64_t{0}, 2 * bucket_size - 1);
    for (const char* profile : {"hf", "exact"}) {
      const Encoding deberta("relative_bias", {{"heads", std::int64_t{1}},
                                               {"index", std::string("deberta")},
                                               {"bucket_size", bucket_size},
                                               {"max_position", entry.at("max_position").get<std::int64_t>()},
                                               {"profile", std::string(profile)}});
      EXPECT_EQ(deberta.score().buckets, 2 * bucket_size);
      const std::vector<std::int64_t> got = bucket_matrix(deberta, queries, std::span(&key, 1));
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i], want[i]) << profile << ", " << bucket_size << ", offset " << offsets[i];
      }
    }
  }
}

}  // namespace
}  // namespace locus::testing
