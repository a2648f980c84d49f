// SPDX-License-Identifier: Apache-2.0
// Compares the model on the library's kernels with the same model in torch's operations: gradients of every weight,
// and losses step by step during training.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "lab_model/small_trial.h"
#include "model/torch_baseline.h"
#include "model/training.h"

namespace locus::lab {
namespace {

const std::vector<std::string> known{"none", "sinusoidal", "learned", "rope", "rope:base=500",
                                     "xpos", "alibi",      "t5",      "shaw", "transformer_xl"};

// A gradient passes through about 14 products, each a sum of at most 128 terms (4 x width, or the 64 tokens), and
// through attention and norms of the same size: below 14 x 128 roundings of 2^-24, taken of the gradient's norm.
constexpr double rounding = 14 * 128 * 0x1p-24;

/// Empty if loss and gradients agree, else what differs.
std::string difference(Transformer& model, TorchBaseline& baseline, const Questions& questions) {
  model.weights().gradients().zero_();
  baseline.weights().gradients().zero_();
  const at::Tensor loss = model.loss(questions, model.encoding()), expected = baseline.loss(questions);
  if (std::abs(loss.item<double>() - expected.item<double>()) > rounding * expected.item<double>()) return "loss";
  loss.backward();
  expected.backward();
  for (const Weights::Entry& entry : model.weights().entries()) {
    const at::Tensor ours = model.weights().at(entry.name).grad(), theirs = baseline.weights().at(entry.name).grad();
    const double norm = theirs.norm().item<double>(), apart = (ours - theirs).norm().item<double>();
    if (norm == 0) return "no gradient of " + entry.name;
    if (!(apart <= rounding * norm)) return entry.name + " is off by " + std::to_string(apart / norm) + " of its norm";
  }
  return "";
}

// In about one of ten batches, one of 16384 hidden units is so close to ReLU's kink that the two models are on
// different sides, which no rounding bound covers. So one of three batches must agree; a wrong gradient fails all.
TEST(Baseline, GradientsOfEveryWeight) {
  for (const char* task : {"back", "order"}) {  // a decoder, and an encoder that pools
    for (const std::string& scheme : known) {
      const TrialSpec spec = small_trial(scheme, task);
      Questioner questioner(spec);
      const ModelSpec of = model_spec(spec, questioner.description());
      Transformer model(of, 3);
      TorchBaseline baseline(of, 3);
      std::string apart = "never tried";
      for (int i = 0; i < 3 && !apart.empty(); ++i) apart = difference(model, baseline, questioner.next());
      EXPECT_EQ(apart, "") << scheme << " on " << task;
    }
  }
}

std::vector<double> losses_of(Transformer& model, const TrialSpec& spec) {
  Questioner questioner(spec);
  AdamW optimiser(model.weights());
  const Schedule rates = schedule(spec.learning_rate, spec.steps);
  std::vector<double> losses;
  for (std::int64_t step = 0; step < spec.steps; ++step) {
    const at::Tensor loss = model.loss(questioner.next(), model.encoding());
    loss.backward();
    losses.push_back(loss.item<double>());
    optimiser.step(rates.rate(step));
  }
  return losses;
}

// Training amplifies roundings by an amount that depends on the problem and on the roundings, which differ between CPUs.
// It is measured: all weights are changed once by 2^-16 of their value, up and down in several patterns, and the losses
// of the two models may differ by at most twice the largest change that results; the roundings of each model, at most
// 256 in a row, are as small.
TEST(Baseline, LossesStepByStep) {
  for (const std::string& scheme : known) {
    SCOPED_TRACE(scheme);
    TrialSpec spec = small_trial(scheme);
    spec.steps = 20;
    Questioner questioner(spec);
    const ModelSpec of = model_spec(spec, questioner.description());
    Transformer model(of, 3);
    TorchBaseline baseline(of, 3);
    const std::vector<double> ours = losses_of(model, spec);
    std::vector<double> change(ours.size());
    for (const std::int64_t run : {1, 2, 3, 5}) {  // weights in a row that change in the same direction
      Transformer moved(of, 3);
      {
        const NoGradGuard no_gradients;
        const at::Tensor row = at::arange(moved.weights().count()).floor_divide(run);
        moved.weights().restore(moved.weights().values() * (1 + 0x1p-16 * (1 - 2 * row.remainder(2).to(at::kFloat))));
      }
      const std::vector<double> shifted = losses_of(moved, spec);
      for (std::size_t i = 0; i < ours.size(); ++i) change[i] = std::max(change[i], std::abs(ours[i] - shifted[i]));
    }
    const Schedule rates = schedule(spec.learning_rate, spec.steps);
    double allowed = 0;
    for (std::int64_t step = 0; step < spec.steps; ++step) {
      const double theirs = baseline.train_step(questioner.next(), rates.rate(step));
      const auto i = static_cast<std::size_t>(step);
      allowed = std::max(allowed, 2 * change[i]);
      EXPECT_NEAR(ours[i], theirs, allowed + rounding * theirs) << "step " << step;
      EXPECT_LT(allowed, 0.05 * theirs) << "the test would see nothing";
    }
    EXPECT_LT(ours.back(), ours.front());
  }
}

TEST(Baseline, RefusesWhatItDoesNotKnow) {
  const TrialSpec spec = small_trial("kerple");
  Questioner questioner(spec);
  EXPECT_FALSE(baseline_knows(parse_scheme("kerple")));
  EXPECT_FALSE(baseline_knows(parse_scheme("alibi:bias_max=4")));
  EXPECT_THROW(TorchBaseline(model_spec(spec, questioner.description()), 1), Error);
}

}  // namespace
}  // namespace locus::lab
