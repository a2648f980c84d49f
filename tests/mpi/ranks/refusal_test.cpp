// SPDX-License-Identifier: Apache-2.0
// Ranks that disagree all refuse, with a line that names the rank and the rule; the next call works.
#include <gtest/gtest.h>

#include "locus/error.h"
#include "ranks.h"

namespace locus::tools {
namespace {

using positions::Remainder;
using positions::ShardKind;

class RingRefusal : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ranks_ < 2) GTEST_SKIP() << "for two ranks or more";
    make_share();
  }

  void make_share() {
    sample_.make_share(ShardKind::zigzag, Remainder::padded, ranks_, rank_, share_);
    share_.call.communicator = MPI_COMM_WORLD;
    share_.call.mask = {.causal = true};
  }

  std::string error() {
    try {
      mpi::attend(share_.call);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  /// After a refusal the ranks are still in step.
  void TearDown() override {
    if (ranks_ < 2) return;
    make_share();
    EXPECT_EQ(error(), "");
  }

  bool last() const { return rank_ == ranks_ - 1; }
  std::string last_rank() const { return std::to_string(ranks_ - 1); }

  Encoding alibi_{"alibi", {{"heads", std::int64_t{4}}}};
  RingSample sample_{alibi_, shape_for(alibi_, 20), ElementType::float32, 2};
  RingSample::Share share_;
  int rank_ = rank_of_this(), ranks_ = all_ranks();
};

TEST_F(RingRefusal, AnotherShape) {
  if (last()) {
    share_.call.query.head_dim = share_.call.key.head_dim = share_.call.value.head_dim = share_.call.output.head_dim =
        8;
  }
  EXPECT_EQ(error(), "mpi: every rank must have the same head_dim, rank 0 has 16 and rank " + last_rank() + " has 8");
}

TEST_F(RingRefusal, AnotherMask) {
  if (last()) share_.call.mask.window = 4;
  EXPECT_EQ(error(), "mpi: every rank must have the same mask.window, rank 0 has 0 and rank " + last_rank() + " has 4");
}

TEST_F(RingRefusal, AnotherEncoding) {
  const Encoding other("alibi", {{"heads", std::int64_t{4}}, {"bias_max", 4.0}});
  if (last()) share_.call.encoding = &other;
  EXPECT_EQ(error(), "mpi: every rank must have the same encoding, rank " + last_rank() + " has another than rank 0");
}

TEST_F(RingRefusal, AnotherPlan) {
  const std::vector<std::int64_t> lengths{10, 20, 1, 7};  // the last one is longer by 1
  if (last()) share_.shard = positions::document_shard(ShardKind::zigzag, lengths, ranks_, rank_);
  const std::string message = error();
  // The tensors of the last rank may not fit its plan either, which it then says first.
  EXPECT_TRUE(message.find("the same plan, rank " + last_rank()) != std::string::npos ||
              message.find("tokens of the shard") != std::string::npos)
      << message;
}

TEST_F(RingRefusal, TheShardOfAnotherRank) {
  if (last()) share_.shard = positions::document_shard(ShardKind::zigzag, sample_.shape().lengths, ranks_, 0);
  const std::string own = "mpi: shard must be that of rank " + last_rank() + " of " + std::to_string(ranks_) +
                          ", got rank 0 of " + std::to_string(ranks_);
  EXPECT_EQ(error(), last() ? own : "mpi: rank " + last_rank() + " refused its call: " + own);
}

TEST_F(RingRefusal, ATokenHeldTwice) {
  if (last()) {
    share_.shard.pieces = positions::document_shard(ShardKind::zigzag, sample_.shape().lengths, ranks_, 0).pieces;
  }
  EXPECT_EQ(error(), "mpi: every token must be held by one rank, ranks 0 and " + last_rank() +
                         " both hold token 0 of document 0");
}

TEST_F(RingRefusal, AnIdOutOfRange) {
  if (last()) share_.ids[0] = Position{1} << 40;
  EXPECT_NE(error().find("1099511627776"), std::string::npos);
}

TEST_F(RingRefusal, Float64) {
  const auto wide = [](HeadsView& view) { view.type = ElementType::float64; };
  for (HeadsView* view : {&share_.call.query, &share_.call.key, &share_.call.value, &share_.call.output}) wide(*view);
  EXPECT_EQ(error(), "mpi: tensors must be float32, bfloat16 or float16, got float64");
}

TEST_F(RingRefusal, TheOtherPass) {
  TokenRows dq = share_.query, dk = share_.key, dv = share_.key;
  std::string message;
  try {
    if (last()) {
      mpi::attend_backward({.forward = share_.call,
                            .output_gradient = share_.output.view(),
                            .query_gradient = dq.view(),
                            .key_gradient = dk.view(),
                            .value_gradient = dv.view()});
    } else {
      mpi::attend(share_.call);
    }
  } catch (const Error& error) {
    message = error.what();
  }
  EXPECT_NE(message.find("every rank must have the same pass"), std::string::npos) << message;
}

TEST(RingSetup, RefusesWhatNoRankCanUse) { EXPECT_THROW(mpi::attend({}), Error); }

}  // namespace
}  // namespace locus::tools
