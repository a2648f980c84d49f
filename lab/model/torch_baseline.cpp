// SPDX-License-Identifier: Apache-2.0
#include "model/torch_baseline.h"

#include <torch/types.h>

#include <torch/nn/utils/clip_grad.h>
#include <torch/optim/adamw.h>

#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "model/norm.h"
#include "model/training.h"

namespace locus::lab {

struct TorchBaseline::Optimiser {
  explicit Optimiser(Weights& weights) {
    const AdamWOptions own;
    std::vector<at::Tensor> decaying, constant;
    for (const Weights::Entry& entry : weights.entries()) {
      (entry.decays ? decaying : constant).push_back(weights.at(entry.name));
      all.push_back(weights.at(entry.name));
    }
    const auto options = [&](double decay) {
      auto group = std::make_unique<torch::optim::AdamWOptions>();
      group->betas({own.beta1, own.beta2}).eps(own.epsilon).weight_decay(decay);
      return group;
    };
    std::vector<torch::optim::OptimizerParamGroup> groups;
    groups.emplace_back(decaying, options(own.decay));
    groups.emplace_back(constant, options(0));
    adam = std::make_unique<torch::optim::AdamW>(groups);
    clip = own.clip;
  }

  std::vector<at::Tensor> all;
  std::unique_ptr<torch::optim::AdamW> adam;
  double clip = 1;
};

bool baseline_knows(const SchemeText& scheme) { return TorchPositions::knows(scheme); }

TorchBaseline::TorchBaseline(const ModelSpec& spec, std::int64_t seed)
    : spec_(spec), weights_(initial_weights(spec, initial_encoding(spec), seed)) {
  require(baseline_knows(spec.scheme), "the baseline does not know ", spec.scheme.name, " with these arguments");
  optimiser_ = std::make_unique<Optimiser>(weights_);
}

TorchBaseline::~TorchBaseline() = default;

namespace {

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain) {
  return x * at::rsqrt(x.square().mean(-1, true) + static_cast<double>(norm_epsilon)) * gain;
}

}  // namespace

at::Tensor TorchBaseline::attention(const at::Tensor& x, std::int64_t layer, const TorchPositions& positions) const {
  const std::int64_t rows = x.size(0), length = x.size(1);
  const std::int64_t heads = spec_.shape.heads, dim = spec_.shape.width / heads;
  const std::string prefix = std::to_string(layer) + ".attention.";
  const at::Tensor qkv = at::linear(rms_norm(x, weights_.at(prefix + "norm")), weights_.at(prefix + "qkv"))
                             .view({rows, length, 3, heads, dim})
                             .permute({2, 0, 3, 1, 4});
  at::Tensor q = qkv[0], k = qkv[1];
  const at::Tensor v = qkv[2];
  positions.rotate(q, k);
  const at::Tensor learned = weights_.has("positions") ? weights_.at("positions") : at::Tensor();
  const at::Tensor score = positions.scores(q, k, learned);
  const at::Tensor output = at::matmul(at::softmax(score, -1), v).transpose(1, 2).reshape({rows, length, heads * dim});
  return at::linear(output, weights_.at(prefix + "out"));
}

at::Tensor TorchBaseline::loss(const Questions& questions) {
  const std::int64_t rows = questions.rows, length = questions.length, width = spec_.shape.width;
  at::Tensor x = at::embedding(weights_.at("embedding"), questions.tokens).view({rows, length, width});
  const auto known = positions_.try_emplace(length, spec_.scheme, spec_.shape, spec_.causal, length);
  const TorchPositions& positions = known.first->second;
  if (positions.rows().defined()) x = x + positions.rows();
  if (spec_.scheme.name == "learned") x = x + weights_.at("positions.table").narrow(0, 0, length);
  for (std::int64_t layer = 0; layer < spec_.shape.layers; ++layer) {
    x = x + attention(x, layer, positions);
    const std::string prefix = std::to_string(layer) + ".feed_forward.";
    const at::Tensor hidden =
        at::relu(at::linear(rms_norm(x, weights_.at(prefix + "norm")), weights_.at(prefix + "in")));
    x = x + at::linear(hidden, weights_.at(prefix + "out"));
  }
  x = spec_.pooled ? x.mean(1) : x.view({rows * length, width});
  const at::Tensor asked = rms_norm(x.index_select(0, questions.asked), weights_.at("norm"));
  return at::cross_entropy_loss(at::linear(asked, weights_.at("head")), questions.targets);
}

double TorchBaseline::train_step(const Questions& questions, double learning_rate) {
  for (auto& group : optimiser_->adam->param_groups()) {
    static_cast<torch::optim::AdamWOptions&>(group.options()).lr(learning_rate);
  }
  const at::Tensor value = loss(questions);
  value.backward();
  torch::nn::utils::clip_grad_norm_(optimiser_->all, optimiser_->clip);
  optimiser_->adam->step();
  weights_.gradients().zero_();
  return value.item<double>();
}

}  // namespace locus::lab
