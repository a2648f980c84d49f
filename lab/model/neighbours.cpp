// SPDX-License-Identifier: Apache-2.0
#include "model/neighbours.h"

#include <algorithm>
#include <vector>

#include "locus/add.h"

namespace locus::lab {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

HiddenView hidden_view(const at::Tensor& x, const AttentionSetting& setting) {
  const std::int64_t width = x.size(1);
  return {.data = x.data_ptr<float>(),
          .type = ElementType::float32,
          .batch = setting.rows,
          .tokens = setting.length,
          .dim = width,
          .batch_stride = setting.length * width,
          .token_stride = width};
}

struct NeighbourRows : torch::autograd::Function<NeighbourRows> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& learned,
                            const SharedSetting& setting) {
    at::Tensor y = x.clone();
    add(setting->encoding, hidden_view(y, *setting), setting->ids);
    context->save_for_backward({x, learned});
    context->saved_data["setting"] = at::IValue::make_capsule(setting);
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const auto capsule = context->saved_data["setting"].toCapsule();
    const auto& setting = static_cast<const AttentionSetting&>(*capsule);
    const at::Tensor& x = saved[0];
    const at::Tensor dy = gradients[0].contiguous();
    at::Tensor dx = at::empty_like(x), dlearned = at::empty_like(saved[1]);
    std::vector<double> weight(static_cast<std::size_t>(dlearned.numel()));
    add_backward(setting.encoding,
                 {.input = hidden_view(x, setting),
                  .output_gradient = hidden_view(dy, setting),
                  .input_gradient = hidden_view(dx, setting),
                  .weight = weight},
                 setting.ids);
    std::transform(weight.begin(), weight.end(), dlearned.data_ptr<float>(),
                   [](double value) { return static_cast<float>(value); });
    return {dx, dlearned, {}};
  }
};

}  // namespace

at::Tensor with_neighbours(const at::Tensor& x, const at::Tensor& learned, const SharedSetting& setting) {
  return NeighbourRows::apply(x, learned, setting);
}

}  // namespace locus::lab
