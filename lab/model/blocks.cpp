// SPDX-License-Identifier: Apache-2.0
#include "model/blocks.h"

#include <algorithm>
#include <array>

#include "locus/attention_backward.h"
#include "locus/rotate.h"
#include "model/norm.h"

namespace locus::lab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Views `part` of the [rows x length, parts x width] tensor as heads.
HeadsView heads_of(const at::Tensor& tensor, const AttentionSetting& setting, std::int64_t part) {
  const std::int64_t width = setting.heads * setting.head_dim;
  const std::int64_t stride = tensor.size(1);
  return {.data = tensor.data_ptr<float>() + part * width,
          .type = ElementType::float32,
          .batch = setting.rows,
          .tokens = setting.length,
          .heads = setting.heads,
          .head_dim = setting.head_dim,
          .batch_stride = setting.length * stride,
          .token_stride = stride,
          .head_stride = setting.head_dim};
}

AttentionCall call_of(const AttentionSetting& setting, const at::Tensor& qkv, const at::Tensor& output,
                      const at::Tensor& log_sum_exp) {
  AttentionCall call{.query = heads_of(qkv, setting, 0),
                     .key = heads_of(qkv, setting, 1),
                     .value = heads_of(qkv, setting, 2),
                     .output = heads_of(output, setting, 0),
                     .encoding = &setting.encoding,
                     .log_sum_exp = log_sum_exp.data_ptr<float>()};
  call.mask.causal = setting.causal;
  return call;
}

bool rotates(const AttentionSetting& setting) { return setting.encoding.site() == Site::query_key; }

/// Buffers for the gradients of an encoding's weights, and their copy into one float32 tensor.
class LearnedRoom {
 public:
  explicit LearnedRoom(const AttentionSetting& setting) : setting_(setting) {
    for (const LearnedArgument& argument : setting.learned) {
      rooms_.emplace_back(static_cast<std::size_t>(argument.room));
      if ((spans_.*argument.gradient).empty()) spans_.*argument.gradient = rooms_.back();
    }
  }

  LearnedGradients spans() const { return spans_; }

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
  /// `inputs` are x, gain, w_qkv, w_out and learned.
  static at::Tensor forward(AutogradContext* context, const at::TensorList& inputs, const SharedSetting& setting) {
    const at::Tensor &x = inputs[0], &gain = inputs[1], &w_qkv = inputs[2], &w_out = inputs[3], &learned = inputs[4];
    at::Tensor normed = at::empty_like(x), r = at::empty({x.size(0)});
    norm_rows(x, gain, normed, r);
    const at::Tensor qkv = at::mm(normed, w_qkv.t());
    if (rotates(*setting)) {
      rotate_query_key(setting->encoding, heads_of(qkv, *setting, 0), heads_of(qkv, *setting, 1), setting->ids);
    }
    const at::Tensor output = at::empty_like(x);
    const at::Tensor log_sum_exp = at::empty({setting->rows, setting->heads, setting->length});
    const AttentionCall call = call_of(*setting, qkv, output, log_sum_exp);
    attend(call);
    if (setting->observer) setting->observer(call);
    context->save_for_backward({x, gain, r, normed, w_qkv, qkv, output, log_sum_exp, w_out, learned});
    context->saved_data["setting"] = at::IValue::make_capsule(setting);
    return at::addmm(x, output, w_out.t());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto capsule = context->saved_data["setting"].toCapsule();
    const auto& setting = static_cast<const AttentionSetting&>(*capsule);
    const at::Tensor &x = saved[0], &gain = saved[1], &r = saved[2], &normed = saved[3], &w_qkv = saved[4],
                     &qkv = saved[5], &output = saved[6], &log_sum_exp = saved[7], &w_out = saved[8],
                     &learned = saved[9];
    const at::Tensor dy = gradients[0].contiguous();
    const at::Tensor doutput = at::mm(dy, w_out);
    const at::Tensor dqkv = at::empty_like(qkv);
    LearnedRoom room(setting);
    attend_backward({.forward = call_of(setting, qkv, output, log_sum_exp),
                     .output_gradient = heads_of(doutput, setting, 0),
                     .query_gradient = heads_of(dqkv, setting, 0),
                     .key_gradient = heads_of(dqkv, setting, 1),
                     .value_gradient = heads_of(dqkv, setting, 2),
                     .learned = room.spans()});
    if (rotates(setting)) {
      rotate_query_key(setting.encoding, heads_of(dqkv, setting, 0), heads_of(dqkv, setting, 1), setting.ids,
                       Direction::inverse);
    }
    at::Tensor dx = dy.clone(), dgain = at::empty_like(gain);
    norm_rows_backward(x, gain, r, at::mm(dqkv, w_qkv), dx, dgain);
    return {dx, dgain, at::mm(dqkv.t(), normed), at::mm(dy.t(), output), room.gathered(learned), {}};
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

at::Tensor attention_block(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& w_qkv,
                           const at::Tensor& w_out, const at::Tensor& learned, const SharedSetting& setting) {
  const std::array<at::Tensor, 5> inputs{x, gain, w_qkv, w_out, learned};
  return AttentionBlock::apply(at::TensorList(inputs), setting);
}

at::Tensor feed_forward_block(const at::Tensor& x, const at::Tensor& gain, const at::Tensor& w_in,
                              const at::Tensor& w_out) {
  return FeedForwardBlock::apply(x, gain, w_in, w_out);
}

}  // namespace locus::lab
