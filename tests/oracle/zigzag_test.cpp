// SPDX-License-Identifier: Apache-2.0
// zigzag/: the shards of TransformerEngine and Megatron-LM, of packed documents and of whole sequences.
#include <numeric>

#include "locus/document_shards.h"
#include "oracle_check.h"

namespace locus::testing {
namespace {

class ZigzagOracle : public ::testing::TestWithParam<std::string> {
 protected:
  using Ints = std::vector<std::int64_t>;
  OracleCase peer_{"zigzag", GetParam()};
  std::int64_t ranks() const { return peer_.json().at("settings").at("cp_size").get<std::int64_t>(); }
  bool packed() const { return peer_.has("cu_seqlens"); }
  Ints lengths() const {
    if (!packed()) return {peer_.json().at("settings").at("tokens").get<std::int64_t>()};
    Ints differences = peer_.integers("cu_seqlens");
    std::adjacent_difference(differences.begin(), differences.end(), differences.begin());
    differences.erase(differences.begin());
    return differences;
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, ZigzagOracle, ::testing::ValuesIn(oracle_cases("zigzag")), case_name);

TEST_P(ZigzagOracle, EveryRankHoldsThePeersTokens) {
  Ints ids, slots, padding, tokens;
  for (std::int64_t rank = 0; rank < ranks(); ++rank) {
    const positions::DocumentShard shard =
        positions::document_shard(positions::ShardKind::zigzag, lengths(), ranks(), rank);
    ids.insert(ids.end(), shard.ids.ids.begin(), shard.ids.ids.end());
    slots.insert(slots.end(), shard.slots.begin(), shard.slots.end());
    tokens.insert(tokens.end(), shard.tokens.begin(), shard.tokens.end());
    for (const std::uint8_t real : shard.mask) padding.push_back(real == 1 ? 0 : 1);
  }
  EXPECT_EQ(ids, peer_.integers("position_ids"));
  if (!packed()) {
    // The order in which the ranks' rows, laid end to end, give the sequence.
    const Ints order = peer_.integers("gather_order");
    ASSERT_EQ(order.size(), tokens.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(tokens[static_cast<std::size_t>(order[i])], static_cast<std::int64_t>(i));
    }
    EXPECT_EQ(positions::shards(positions::ShardKind::zigzag, lengths()[0], ranks()).ids, ids);
    return;
  }
  EXPECT_EQ(slots, peer_.integers("token_index"));
  EXPECT_EQ(padding, peer_.integers("is_padding"));
  const Ints original = peer_.integers("original_index"), padded_ids = peer_.integers("position_ids_padded");
  ASSERT_EQ(slots.size(), original.size());
  EXPECT_EQ(static_cast<std::int64_t>(slots.size()), peer_.integers("cu_seqlens_padded").back());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    EXPECT_EQ(tokens[i], original[static_cast<std::size_t>(slots[i])]) << i;
    EXPECT_EQ(ids[i], padded_ids[static_cast<std::size_t>(slots[i])]) << i;
  }
}

}  // namespace
}  // namespace locus::testing
