// SPDX-License-Identifier: Apache-2.0
// The backward pass on every rank against that of the whole in double.
#include <gtest/gtest.h>

#include <algorithm>

#include "locus/doctor/example_encodings.h"
#include "locus/reference_attention.h"
#include "ranks.h"

namespace locus::tools {
namespace {

using positions::Remainder;
using positions::ShardKind;

constexpr double tolerance = 1e-4;  // of the largest gradient: a share that is lost or counted twice is far beyond it

TEST(RingBackward, EverySchemeEqualsTheWhole) {
  std::int64_t seen = 0;
  for (const NamedEncoding& named : example_encodings()) {
    RingSample sample(named.encoding, shape_for(named.encoding, 23), ElementType::float32, 6);
    const RingComparison got = compare_backward(MPI_COMM_WORLD, sample, {}, tolerance);
    EXPECT_TRUE(got.passed()) << named.name << ": " << where(got);
    ++seen;
  }
  EXPECT_GT(seen, 40);
}

// Gates are counted over all ranks; far offsets are remapped; the rest is as for every scheme.
std::vector<Encoding> unlike_encodings() {
  const std::int64_t heads = 4, dim = 8;
  return {Encoding("t5", {{"heads", heads}}),
          Encoding("cope", {{"heads", heads},
                            {"head_dim", dim},
                            {"max_positions", std::int64_t{6}},
                            {"deviation", 0.5},
                            {"gate_mix", Tensor{{4, 4}, {1, 0, .5, 0, 0, 1, 0, -.5, .25, 0, 1, 0, 0, 0, .5, 1}}}}),
          Encoding("offset_map", {{"head_dim", dim},
                                  {"pairing", "half"},
                                  {"map", "self_extend"},
                                  {"window", std::int64_t{6}},
                                  {"group", std::int64_t{3}}})};
}

TEST(RingBackward, MasksAndCuts) {
  for (const Encoding& encoding : unlike_encodings()) {
    RingSample sample(encoding, shape_for(encoding, 27), ElementType::float32, 12);
    sample.sink_logits = {0.5f, 2.0f, -1.0f, 0.0f};
    std::vector<std::uint8_t> keys;
    for (std::int64_t k = 0; k < sample.tokens(); ++k) keys.push_back(k % 5 != 3);
    for (const Mask& mask :
         {Mask{}, Mask{.causal = true, .keys = keys}, Mask{.causal = true, .window = 6, .sinks = 2}}) {
      for (const ShardKind kind : {ShardKind::contiguous, ShardKind::striped, ShardKind::zigzag}) {
        if (kind == ShardKind::striped && encoding.scheme().name == "cope") continue;  // which counts keys in order
        for (const Remainder remainder : {Remainder::padded, Remainder::uneven}) {
          const RingComparison got =
              compare_backward(MPI_COMM_WORLD, sample, {.kind = kind, .remainder = remainder, .mask = mask}, tolerance);
          EXPECT_TRUE(got.passed()) << encoding.scheme().name << ", cut " << static_cast<int>(kind) << ": "
                                    << where(got);
        }
      }
    }
  }
}

/// The gradients that the ring gives to this rank's tokens, for a gradient of the output that is a function of the token.
struct RingGradients {
  static double output_gradient(std::int64_t token, std::int64_t head, std::int64_t j) {
    return static_cast<double>((token * 5 + head * 3 + j * 7) % 16 - 8) / 8;
  }

  RingGradients(RingSample& sample, Executor* executor = nullptr) {
    sample.make_share(ShardKind::zigzag, Remainder::padded, all_ranks(), rank_of_this(), share);
    share.call.communicator = MPI_COMM_WORLD;
    share.call.mask = {.causal = true};
    share.call.executor = executor;
    query = share.query;
    key = share.key;
    value = share.value;
    TokenRows gradient = share.query;
    for (std::int64_t i = 0; i < gradient.tokens; ++i) {
      const std::int64_t token = share.shard.tokens[static_cast<std::size_t>(i)];
      for (std::int64_t h = 0; h < gradient.heads; ++h) {
        for (std::int64_t j = 0; j < gradient.dim; ++j) {
          gradient.set(i, h, j, token < 0 ? 0 : output_gradient(token, h, j));
        }
      }
    }
    mpi::attend(share.call);
    mpi::attend_backward({.forward = share.call,
                          .output_gradient = gradient.view(),
                          .query_gradient = query.view(),
                          .key_gradient = key.view(),
                          .value_gradient = value.view()});
  }
  RingSample::Share share;
  TokenRows query, key, value;
};

/// Differences of the exact reference, which shares nothing with the kernels or their gradients.
void expect_differences(RingSample& sample, const RingGradients& got, TokenRows RingSample::*input,
                        const TokenRows& gradient) {
  TokenRows rows(ElementType::float64, sample.tokens(), gradient.heads, gradient.dim);
  for (std::int64_t i = 0; i < rows.tokens * rows.heads * rows.dim; ++i) {
    const std::int64_t j = i % rows.dim, head = i / rows.dim % rows.heads, token = i / rows.dim / rows.heads;
    rows.set(token, head, j, (sample.*input).at(token, head, j));
  }
  AttentionCall call = sample.whole({.causal = true});
  TokenRows room = sample.query;
  call.output = room.view();
  (input == &RingSample::query ? call.query : input == &RingSample::key ? call.key : call.value) = rows.view();
  const auto loss = [&] {
    const reference::Attention out = reference::attend(call);
    double sum = 0;
    for (std::size_t i = 0; i < out.output.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i), dim = gradient.dim, n = sample.tokens();
      sum += out.output[i] * RingGradients::output_gradient(at / dim % n, at / dim / n, at % dim);
    }
    return sum;
  };
  const double step = 0x1p-12;
  for (std::int64_t i = 0; i < std::ssize(got.share.shard.tokens); i += 3) {
    const std::int64_t token = got.share.shard.tokens[static_cast<std::size_t>(i)];
    const std::int64_t head = i % gradient.heads, j = i * 5 % gradient.dim;
    if (token < 0) continue;
    const double kept = rows.at(token, head, j);
    rows.set(token, head, j, kept + step);
    const double above = loss();
    rows.set(token, head, j, kept - step);
    const double below = loss();
    rows.set(token, head, j, kept);
    EXPECT_NEAR(gradient.at(i, head, j), (above - below) / (2 * step), 2e-5) << "token " << token;
  }
}

TEST(RingBackward, DifferencesOfTheReference) {
  for (const Encoding& encoding : unlike_encodings()) {
    SCOPED_TRACE(encoding.scheme().name);
    RingSample sample(encoding, {{17, 1, 8}, 4, 2, 8}, ElementType::float32, 33);
    const RingGradients got(sample);
    expect_differences(sample, got, &RingSample::query, got.query);
    expect_differences(sample, got, &RingSample::key, got.key);
    expect_differences(sample, got, &RingSample::value, got.value);
  }
}

TEST(RingBackward, TimingChangesNoBit) {
  for (const Encoding& encoding : unlike_encodings()) {
    SCOPED_TRACE(encoding.scheme().name);
    RingSample sample(encoding, {{40, 25}, 4, 2, 8}, ElementType::float32, 34);
    const RingGradients first(sample);
    for (int run = 0; run < 2; ++run) {
      Unsteady unsteady(1 + 37 * run + 11 * rank_of_this());
      const RingGradients again(sample, &unsteady);
      EXPECT_EQ(again.query.bytes, first.query.bytes);
      EXPECT_EQ(again.key.bytes, first.key.bytes);
      EXPECT_EQ(again.value.bytes, first.value.bytes);
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
