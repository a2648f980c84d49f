// SPDX-License-Identifier: Apache-2.0
// The backward pass on every rank against that of the whole in double.
#include <gtest/gtest.h>

#include <algorithm>

#include "locus/doctor/example_encodings.h"
#include "ranks.h"

namespace locus::tools {
namespace {

using positions::Remainder;
using positions::ShardKind;

constexpr double tolerance = 1e-4;  // of the largest gradient: a share that is lost or counted twice is far beyond it

TEST(RingBackward, EverySchemeEqualsTheWhole) {
  std::int64_t seen = 0;
  for (const NamedEncoding& named : example_encodings()) {
    if (!has_backward(named.encoding)) continue;
    RingSample sample(named.encoding, shape_for(named.encoding, 23), ElementType::float32, 6);
    const RingComparison got = compare_backward(MPI_COMM_WORLD, sample, {}, tolerance);
    EXPECT_TRUE(got.passed()) << named.name << ": " << where(got);
    ++seen;
  }
  EXPECT_GT(seen, 40);
}

TEST(RingBackward, MasksAndCuts) {
  const Encoding t5("t5", {{"heads", std::int64_t{4}}});
  RingSample sample(t5, shape_for(t5, 33), ElementType::float32, 12);
  sample.sink_logits = {0.5f, 2.0f, -1.0f, 0.0f};
  for (const Mask& mask : {Mask{}, Mask{.causal = true}, Mask{.causal = true, .window = 6, .sinks = 2}}) {
    for (const ShardKind kind : {ShardKind::contiguous, ShardKind::striped, ShardKind::zigzag}) {
      for (const Remainder remainder : {Remainder::padded, Remainder::uneven}) {
        const RingComparison got =
            compare_backward(MPI_COMM_WORLD, sample, {.kind = kind, .remainder = remainder, .mask = mask}, tolerance);
        EXPECT_TRUE(got.passed()) << static_cast<int>(kind) << ": " << where(got);
      }
    }
  }
}

TEST(RingBackward, SkippedRoundsHaveNoGradient) {
  const Encoding steep("alibi", {{"heads", std::int64_t{2}}, {"bias_max", 1.0}});
  const int ranks = all_ranks();
  RingSample sample(steep, {{200 * ranks}, 2, 1, 8}, ElementType::float32, 21);
  for (const ShardKind kind : {ShardKind::contiguous, ShardKind::zigzag}) {
    const RingComparison got = compare_backward(MPI_COMM_WORLD, sample, {.kind = kind}, tolerance);
    EXPECT_TRUE(got.passed()) << where(got);
    EXPECT_EQ(got.work.rounds, std::min(kind == ShardKind::contiguous ? 1 : 2, ranks - 1));
  }
}

TEST(RingBackward, Bfloat16) {
  const Encoding alibi("alibi", {{"heads", std::int64_t{4}}});
  RingSample sample(alibi, shape_for(alibi, 31), ElementType::bfloat16, 14);
  const RingComparison got = compare_backward(MPI_COMM_WORLD, sample, {}, 0x1p-5);
  EXPECT_TRUE(got.passed()) << where(got);
}

}  // namespace
}  // namespace locus::tools
