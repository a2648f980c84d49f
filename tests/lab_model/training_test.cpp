// SPDX-License-Identifier: Apache-2.0
#include "model/training.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/norm.h"

namespace locus::lab {
namespace {

TEST(ScheduleTest, RisesThenFallsToATenth) {
  const Schedule s = schedule(1.0, 100);
  EXPECT_DOUBLE_EQ(s.rate(0), 0.1);
  EXPECT_DOUBLE_EQ(s.rate(9), 1.0);
  EXPECT_DOUBLE_EQ(s.rate(10), 1.0);
  EXPECT_NEAR(s.rate(99), 0.1, 1e-12);
  for (std::int64_t i = 10; i < 99; ++i) EXPECT_GT(s.rate(i), s.rate(i + 1));
}

// The first step of Adam moves every weight by the rate against the sign of its gradient, for any size, since m /
// sqrt(v) = g / |g|; decay subtracts rate x decay of the weight.
TEST(AdamWTest, FirstStep) {
  Weights weights({{.name = "a", .shape = {2}, .mean = 2}, {.name = "b", .shape = {1}, .mean = 2, .decays = false}}, 1);
  weights.gradients().copy_(at::tensor({0.3f, -0.1f, 0.2f}));
  AdamW optimiser(weights, {.decay = 0.5});
  optimiser.step(0.01);
  const float* w = weights.values().data_ptr<float>();
  EXPECT_NEAR(w[0], 2 * (1 - 0.01 * 0.5) - 0.01, 4 * 2 * 0x1p-24);
  EXPECT_NEAR(w[1], 2 * (1 - 0.01 * 0.5) + 0.01, 4 * 2 * 0x1p-24);
  EXPECT_NEAR(w[2], 2 - 0.01, 4 * 2 * 0x1p-24);
  EXPECT_EQ(weights.gradients().abs().sum().item<float>(), 0);
}

// Without epsilon the first step does not depend on the size of the gradient; with a large epsilon it is rate x g /
// epsilon, and g is clipped to the norm 1: (3, 4) becomes (0.6, 0.8).
TEST(AdamWTest, ClipsTheNormOfAllGradients) {
  Weights weights({{.name = "a", .shape = {2}, .decays = false}}, 1);
  weights.gradients().copy_(at::tensor({3.0f, 4.0f}));
  AdamW optimiser(weights, {.epsilon = 1000, .clip = 1});
  optimiser.step(1.0);
  const float* w = weights.values().data_ptr<float>();
  EXPECT_NEAR(w[0], -0.6 / 1000.6, 1e-8);
  EXPECT_NEAR(w[1], -0.8 / 1000.8, 1e-8);
}

TEST(NormTest, ForwardAndBackwardAsTorchDoesInDouble) {
  for (const std::int64_t width : {1, 7, 8, 33}) {
    const at::Tensor x = at::linspace(-1, 2, 5 * width).view({5, width}).sin().set_requires_grad(true);
    const at::Tensor gain = at::linspace(0.5, 1.5, width).set_requires_grad(true);
    const at::Tensor factor = at::linspace(1, -1, 5 * width).view({5, width});
    const at::Tensor y = norm(x, gain);
    (y * factor).sum().backward();
    const at::Tensor wide = x.detach().to(at::kDouble).set_requires_grad(true);
    const at::Tensor wide_gain = gain.detach().to(at::kDouble).set_requires_grad(true);
    const at::Tensor expected =
        wide * at::rsqrt(wide.square().mean(-1, true) + static_cast<double>(norm_epsilon)) * wide_gain;
    (expected * factor).sum().backward();
    // Sums of at most 33 terms (5 rows for the gain) of size at most 1 / norm, and a dozen roundings around them.
    const double bound = 64 * 0x1p-24 * std::max(1.0, wide.grad().abs().max().item<double>());
    EXPECT_LE((y - expected).abs().max().item<double>(), bound * expected.abs().max().item<double>()) << width;
    EXPECT_LE((x.grad() - wide.grad()).abs().max().item<double>(), 4 * bound) << width;
    EXPECT_LE((gain.grad() - wide_gain.grad()).abs().max().item<double>(), 4 * bound) << width;
  }
}

}  // namespace
}  // namespace locus::lab
