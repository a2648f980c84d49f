// SPDX-License-Identifier: Apache-2.0
// The forward pass on every rank against the reference in double over the whole.
#include <gtest/gtest.h>

#include <algorithm>

#include "locus/doctor/example_encodings.h"
#include "ranks.h"

namespace locus::tools {
namespace {

using positions::Remainder;
using positions::ShardKind;

TEST(RingForward, EverySchemeEqualsTheWhole) {
  std::int64_t seen = 0;
  for (const NamedEncoding& named : example_encodings()) {
    RingSample sample(named.encoding, shape_for(named.encoding, 29), ElementType::float32, 5);
    const RingComparison zigzag = compare_forward(MPI_COMM_WORLD, sample, {});
    EXPECT_TRUE(zigzag.passed()) << named.name << ": " << where(zigzag);
    ++seen;
    if (named.name.find(' ') != std::string::npos) continue;  // one example per scheme
    const RingComparison uneven =
        compare_forward(MPI_COMM_WORLD, sample, {.kind = ShardKind::contiguous, .remainder = Remainder::uneven});
    EXPECT_TRUE(uneven.passed()) << named.name << ": " << where(uneven);
  }
  EXPECT_GT(seen, 40);
}

std::vector<std::pair<std::string, Mask>> masks(std::int64_t tokens) {
  static std::vector<std::uint8_t> keys, pairs;
  keys.clear();
  pairs.clear();
  for (std::int64_t k = 0; k < tokens; ++k) keys.push_back(k % 5 != 3);
  for (std::int64_t i = 0; i < tokens * tokens; ++i) pairs.push_back(i * 7 % 11 < 8);
  return {{"full", {}},
          {"causal", {.causal = true}},
          {"by index", {.causal = true, .by_index = true}},
          {"prefix", {.causal = true, .prefix = 6}},
          {"window", {.causal = true, .window = 7}},
          {"both sides", {.window = 5}},
          {"sinks", {.causal = true, .window = 4, .sinks = 3}},
          {"padding", {.causal = true, .keys = keys}},
          {"pairs", {.pairs = pairs}},
          {"custom", {.custom = [](std::int64_t, std::int64_t head, std::int64_t query, std::int64_t key) {
             return (query + 2 * key + head) % 3 != 0;
           }}}};
}

TEST(RingForward, EveryMaskOfEveryCut) {
  const std::vector<Encoding> encodings = {Encoding("alibi", {{"heads", std::int64_t{4}}, {"form", "symmetric"}}),
                                           Encoding("rope", {{"head_dim", std::int64_t{16}}, {"pairing", "half"}})};
  for (const Encoding& encoding : encodings) {
    RingSample sample(encoding, shape_for(encoding, 43), ElementType::float32, 11);
    for (const auto& [name, mask] : masks(sample.tokens())) {
      for (const ShardKind kind : {ShardKind::contiguous, ShardKind::striped, ShardKind::zigzag}) {
        for (const Remainder remainder : {Remainder::padded, Remainder::uneven}) {
          const RingComparison got =
              compare_forward(MPI_COMM_WORLD, sample, {.kind = kind, .remainder = remainder, .mask = mask});
          EXPECT_TRUE(got.passed()) << encoding.scheme().name << ", " << name << ", cut " << static_cast<int>(kind)
                                    << ": " << where(got);
        }
      }
    }
  }
}

TEST(RingForward, SinkLogitsCountOnce) {
  const Encoding nope("nope");
  RingSample sample(nope, shape_for(nope, 21), ElementType::float32, 3);
  sample.sink_logits = {0.5f, 2.0f, -1.0f, 0.0f};
  const RingComparison got = compare_forward(MPI_COMM_WORLD, sample, {});
  EXPECT_TRUE(got.passed()) << where(got);
}

TEST(RingForward, SixteenBitTypesAreRoundedOnce) {
  for (const ElementType type : {ElementType::bfloat16, ElementType::float16}) {
    const Encoding alibi("alibi", {{"heads", std::int64_t{4}}});
    RingSample sample(alibi, shape_for(alibi, 40), type, 8);
    const RingComparison got = compare_forward(MPI_COMM_WORLD, sample, {});
    EXPECT_TRUE(got.passed()) << name_of(type) << ": " << where(got);
  }
}

TEST(RingForward, OneRankKeepsTheBitsOfAttend) {
  if (all_ranks() > 1) GTEST_SKIP() << "for one rank";
  const Encoding alibi("alibi", {{"heads", std::int64_t{4}}});
  RingSample sample(alibi, {{200, 31}, 4, 2, 16}, ElementType::float32, 9);
  TokenRows whole(ElementType::float32, sample.tokens(), 4, 16);
  AttentionCall call = sample.whole({.causal = true});
  call.output = whole.view();
  locus::attend(call);
  RingSample::Share share;
  sample.make_share(ShardKind::zigzag, Remainder::padded, 1, 0, share);
  share.call.communicator = MPI_COMM_WORLD;
  share.call.mask = {.causal = true};
  mpi::attend(share.call);
  for (std::int64_t i = 0; i < share.output.tokens; ++i) {
    const std::int64_t token = share.shard.tokens[static_cast<std::size_t>(i)];
    for (std::int64_t h = 0; h < 4 && token >= 0; ++h) {
      for (std::int64_t j = 0; j < 16; ++j) ASSERT_EQ(share.output.at(i, h, j), whole.at(token, h, j)) << token;
    }
  }
}

// Slopes of 0.7 and 0.5: a key is negligible about a hundred tokens away.
const Encoding& steep() {
  static const Encoding alibi("alibi", {{"heads", std::int64_t{2}}, {"bias_max", 1.0}});
  return alibi;
}

TEST(RingForward, RoundsThatCannotMatterAreSkipped) {
  RingSample sample(steep(), {{200 * all_ranks()}, 2, 1, 8}, ElementType::float32, 21);
  for (const ShardKind kind : {ShardKind::contiguous, ShardKind::zigzag}) {
    const RingComparison got = compare_forward(MPI_COMM_WORLD, sample, {.kind = kind});
    EXPECT_TRUE(got.passed()) << where(got);
    // Contiguous: the block before the own one. Zigzag: the neighbours on both sides.
    const std::int64_t neighbours = kind == ShardKind::contiguous ? 1 : 2;
    EXPECT_EQ(got.work.rounds, std::min<std::int64_t>(neighbours, all_ranks() - 1));
    const RingComparison dense =
        compare_forward(MPI_COMM_WORLD, sample, {.kind = kind, .skip_irrelevant_blocks = false});
    EXPECT_TRUE(dense.passed()) << where(dense);
    EXPECT_EQ(dense.work.rounds, all_ranks() - 1);
  }
}

TEST(RingForward, AWindowNeedsItsNeighboursOnly) {
  const Encoding nope("nope");
  RingSample sample(nope, {{64 * all_ranks()}, 2, 1, 8}, ElementType::float32, 22);
  const RingComparison got =
      compare_forward(MPI_COMM_WORLD, sample, {.kind = ShardKind::contiguous, .mask = {.causal = true, .window = 9}});
  EXPECT_TRUE(got.passed()) << where(got);
  EXPECT_EQ(got.work.rounds, std::min(1, all_ranks() - 1));
}

// Under a causal mask the first of contiguous shards travels to the last, and no block comes back around.
TEST(RingForward, BlocksTravelOnlyAsFarAsTheyAreNeeded) {
  const Encoding nope("nope");
  RingSample sample(nope, {{48 * all_ranks()}, 2, 1, 8}, ElementType::float32, 23);
  const RingComparison got = compare_forward(MPI_COMM_WORLD, sample, {.kind = ShardKind::contiguous});
  EXPECT_TRUE(got.passed()) << where(got);
  std::int64_t own[2] = {got.work.bytes_sent, got.work.bytes_needed}, all[2] = {0, 0};
  MPI_Allreduce(own, all, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  EXPECT_EQ(all[0], all[1]);
}

TEST(RingForward, TimingChangesNoBit) {
  const int rank = rank_of_this();
  const Encoding alibi("alibi", {{"heads", std::int64_t{4}}});
  RingSample sample(alibi, {{90, 55}, 4, 2, 16}, ElementType::float32, 30);
  std::vector<std::byte> first;
  for (int run = 0; run < 3; ++run) {
    RingSample::Share share;
    sample.make_share(ShardKind::zigzag, Remainder::padded, all_ranks(), rank, share);
    Unsteady unsteady(1 + 37 * run + 11 * rank);
    share.call.communicator = MPI_COMM_WORLD;
    share.call.mask = {.causal = true};
    share.call.executor = &unsteady;
    mpi::attend(share.call);
    if (run == 0) first = share.output.bytes;
    EXPECT_EQ(share.output.bytes, first) << run;
  }
}

TEST(RingForward, ManyDocumentsAreMergedIntoHulls) {
  const Encoding alibi("alibi", {{"heads", std::int64_t{2}}});
  RingShape shape{{}, 2, 1, 8};
  for (int i = 0; i < 90; ++i) shape.lengths.push_back(1 + i % 7);
  RingSample sample(alibi, shape, ElementType::float32, 40);
  for (const ShardKind kind : {ShardKind::zigzag, ShardKind::contiguous}) {
    const RingComparison got = compare_forward(MPI_COMM_WORLD, sample, {.kind = kind});
    EXPECT_TRUE(got.passed()) << where(got);
  }
}

}  // namespace
}  // namespace locus::tools
