// SPDX-License-Identifier: Apache-2.0
#include "model/blocks.h"

#include <algorithm>
#include <array>

#include "locus/attention_backward.h"
#include "model/heads.h"
#include "model/norm.h"

namespace locus::lab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What tokens bring, [rows x length, heads x numbers] in double; without data if they bring nothing.
HeadsView numbers_of(const at::Tensor& numbers, const AttentionSetting& setting) {
  if (numbers.numel() == 0) return {};
  const std::int64_t stride = numbers.size(1), count = stride / setting.heads;
  return {.data = numbers.data_ptr<double>(),
          .type = ElementType::float64,
          .batch = setting.rows,
          .tokens = setting.length,
          .heads = setting.heads,
          .head_dim = count,
          .batch_stride = setting.length * stride,
          .token_stride = stride,
          .head_stride = count};
}

/// The tensors of an attention call: queries, keys and values as it takes them, what tokens bring, and its results.
struct CallTensors {
  const at::Tensor &heads, &numbers, &output, &log_sum_exp;
};

AttentionCall call_of(const AttentionSetting& setting, const CallTensors& of) {
  AttentionCall call{.query = heads_of(of.heads, setting, 0, 3),
                     .key = heads_of(of.heads, setting, 1, 3),
                     .value = heads_of(of.heads, setting, 2, 3),
                     .output = heads_of(of.output, setting),
                     .encoding = &setting.encoding,
                     .query_numbers = numbers_of(of.numbers, setting),
                     .key_numbers = numbers_of(of.numbers, setting),
                     .log_sum_exp = of.log_sum_exp.data_ptr<float>()};
  call.mask.causal = setting.causal;
  return call;
}

/// Buffers for the gradients of an encoding's weights, and their copy into one float32 tensor.
class LearnedRoom {
 public:
  explicit LearnedRoom(const AttentionSetting& setting) : setting_(setting) {
    for (const LearnedArgument& argument : setting.learned) {
      rooms_.emplace_back(static_cast<std::size_t>(argument.room));
      if ((spans_.*argument.gradient).empty()) spans_.*argument.gradient = rooms_.back();
    }
  }

  /// What attention computes: not the phases, which belong to what comes before it.
  LearnedGradients of_attention() const {
    LearnedGradients spans = spans_;
    spans.phases = {};
    return spans;
  }
  std::span<double> phases() const { return spans_.phases; }

  at::Tensor gathered(const at::Tensor& weights) const {
    at::Tensor result = at::empty_like(weights);
    const float* weight = weights.data_ptr<float>();
    float* to = result.data_ptr<float>();
    for (const LearnedArgument& argument : setting_.learned) {
      const std::span<double> from = spans_.*argument.gradient;
      for (std::int64_t i = 0; i < argument.count(); ++i, ++weight, ++to) {
        const double gradient = from[static_cast<std::size_t>(i * argument.columns + argument.column)];
        *to = static_cast<float>(argument.exponential ? gradient * std::exp(static_cast<double>(*weight)) : gradient);
      }
    }
    return result;
  }

 private:
  const AttentionSetting& setting_;
  std::vector<std::vector<double>> rooms_;
  LearnedGradients spans_;
};

struct AttentionBlock : torch::autograd::Function<AttentionBlock> {
  /// `inputs` are x, gain, w_qkv, w_out, learned and numbers.
  static at::Tensor forward(AutogradContext* context, const at::TensorList& inputs, const SharedSetting& setting) {
    const at::Tensor &x = inputs[0], &gain = inputs[1], &w_qkv = inputs[2], &w_out = inputs[3], &learned = inputs[4],
                     &numbers = inputs[5];
    at::Tensor normed = at::empty_like(x), r = at::empty({x.size(0)});
    norm_rows(x, gain, normed, r);
    const at::Tensor qkv = at::mm(normed, w_qkv.t());
    const at::Tensor heads = positioned(qkv, *setting);
    const at::Tensor attended = attended_like(x, *setting);
    const at::Tensor log_sum_exp = at::empty({setting->rows, setting->heads, setting->length});
    const AttentionCall call = call_of(*setting, {heads, numbers, attended, log_sum_exp});
    attend(call);
    if (setting->observer) setting->observer(call);
    const at::Tensor output = own_coordinates(attended, *setting);
    context->save_for_backward(
        {x, gain, r, normed, w_qkv, qkv, heads, numbers, attended, log_sum_exp, output, w_out, learned});
    context->saved_data["setting"] = at::IValue::make_capsule(setting);
    return at::addmm(x, output, w_out.t());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto capsule = context->saved_data["setting"].toCapsule();
    const auto& setting = static_cast<const AttentionSetting&>(*capsule);
    const at::Tensor &x = saved[0], &gain = saved[1], &r = saved[2], &normed = saved[3], &w_qkv = saved[4],
                     &qkv = saved[5], &heads = saved[6], &numbers = saved[7], &attended = saved[8],
                     &log_sum_exp = saved[9], &output = saved[10], &w_out = saved[11], &learned = saved[12];
    const at::Tensor dy = gradients[0].contiguous();
    const at::Tensor dattended = own_coordinates_backward(at::mm(dy, w_out), setting);
    const at::Tensor dheads = at::empty_like(heads), dquery = at::empty_like(numbers), dkey = at::empty_like(numbers);
    LearnedRoom room(setting);
    attend_backward({.forward = call_of(setting, {heads, numbers, attended, log_sum_exp}),
                     .output_gradient = heads_of(dattended, setting),
                     .query_gradient = heads_of(dheads, setting, 0, 3),
                     .key_gradient = heads_of(dheads, setting, 1, 3),
                     .value_gradient = heads_of(dheads, setting, 2, 3),
                     .query_numbers_gradient = numbers_of(dquery, setting),
                     .key_numbers_gradient = numbers_of(dkey, setting),
                     .learned = room.of_attention()});
    const at::Tensor dqkv = positioned_backward(qkv, dheads, setting, room.phases());
    at::Tensor dx = dy.clone(), dgain = at::empty_like(gain);
    norm_rows_backward(x, gain, r, at::mm(dqkv, w_qkv), dx, dgain);
    const at::Tensor dw_qkv = at::mm(dqkv.t(), normed), dw_out = at::mm(dy.t(), output);
    return {dx, dgain, dw_qkv, dw_out, room.gathered(learned), dquery + dkey, {}};
  }
};

struct FeedForwardBlock : torch::autograd::Function<FeedForwardBlock> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& gain,
                            const at::Tensor& w_in, const at::Tensor& w_out) {
    at::Tensor normed = at::empty_like(x), r = at::empty({x.size(0)});
    norm_rows(x, gain, normed, r);
    at::Tensor hidden = at::mm(normed, w_in.t());
    hidden.relu_();
    context->save_for_backward({x, gain, r, normed, w_in, hidden, w_out});
    return at::addmm(x, hidden, w_out.t());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &gain = saved[1], &r = saved[2], &normed = saved[3], &w_in = saved[4],
                     &hidden = saved[5], &w_out = saved[6];
    const at::Tensor dy = gradients[0].contiguous();
    at::Tensor dhidden = at::mm(dy, w_out);
    at::threshold_backward_out(dhidden, dhidden, hidden, 0);
    at::Tensor dx = dy.clone(), dgain = at::empty_like(gain);
    norm_rows_backward(x, gain, r, at::mm(dhidden, w_in), dx, dgain);
    return {dx, dgain, at::mm(dhidden.t(), normed), at::mm(dy.t(), hidden)};
  }
};

}  // namespace

at::Tensor attention_block(const at::Tensor& x, const AttentionWeights& weights, const at::Tensor& numbers,
                           const SharedSetting& setting) {
  const std::array<at::Tensor, 6> inputs{x, weights.gain, weights.qkv, weights.out, weights.learned, numbers};
  return AttentionBlock::apply(at::TensorList(inputs), setting);
}

at::Tensor feed_forward_block(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& w_in,
                              const at::Tensor& w_out) {
  return FeedForwardBlock::apply(x, gain, w_in, w_out);
}

}  // namespace locus::lab
