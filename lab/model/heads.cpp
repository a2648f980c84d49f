// SPDX-License-Identifier: Apache-2.0
#include "model/heads.h"

#include "locus/polar.h"
#include "locus/rotate.h"

namespace locus::lab {
namespace {

constexpr std::int64_t query_part = 0, key_part = 1, value_part = 2;

bool rotates(const AttentionSetting& setting) { return setting.encoding.site() == Site::query_key; }

bool is_polar(const AttentionSetting& setting) { return polar_of(setting.encoding) != nullptr; }

/// The width of a head in attention.
std::int64_t attended_dim(const AttentionSetting& setting) {
  return is_polar(setting) ? setting.encoding.rotation().head_dim : setting.head_dim;
}

/// [rows x length, parts, heads, width of a head].
at::Tensor by_head(const at::Tensor& tensor, const AttentionSetting& setting, std::int64_t parts) {
  return tensor.view({tensor.size(0), parts, setting.heads, tensor.size(1) / parts / setting.heads});
}

at::Tensor own_part(const at::Tensor& heads, const AttentionSetting& setting) {
  return heads.narrow(heads.dim() - 1, 0, setting.head_dim);
}

}  // namespace

HeadsView heads_of(const at::Tensor& tensor, const AttentionSetting& setting, std::int64_t part, std::int64_t parts) {
  const std::int64_t stride = tensor.size(1), width = stride / parts, head_dim = width / setting.heads;
  return {.data = tensor.data_ptr<float>() + part * width,
          .type = ElementType::float32,
          .batch = setting.rows,
          .tokens = setting.length,
          .heads = setting.heads,
          .head_dim = head_dim,
          .batch_stride = setting.length * stride,
          .token_stride = stride,
          .head_stride = head_dim};
}

at::Tensor positioned(const at::Tensor& qkv, const AttentionSetting& setting) {
  if (!rotates(setting)) return qkv;
  if (!is_polar(setting)) {
    rotate_query_key(setting.encoding, heads_of(qkv, setting, query_part, 3), heads_of(qkv, setting, key_part, 3),
                     setting.ids);
    return qkv;
  }
  const at::Tensor wide = at::zeros({qkv.size(0), 3 * setting.heads * attended_dim(setting)});
  for (const std::int64_t part : {query_part, key_part}) {
    rotate(setting.encoding, {heads_of(qkv, setting, part, 3), heads_of(wide, setting, part, 3)}, setting.ids,
           part == query_part ? Role::query : Role::key);
  }
  own_part(by_head(wide, setting, 3).select(1, value_part), setting)
      .copy_(by_head(qkv, setting, 3).select(1, value_part));
  return wide;
}

at::Tensor positioned_backward(const at::Tensor& qkv, const at::Tensor& gradient, const AttentionSetting& setting,
                               std::span<double> phases) {
  if (!rotates(setting)) return gradient;
  rotate_query_key(setting.encoding, heads_of(gradient, setting, query_part, 3),
                   heads_of(gradient, setting, key_part, 3), setting.ids, Direction::inverse);
  if (!is_polar(setting)) return gradient;
  at::Tensor dqkv = at::empty_like(qkv);
  for (const std::int64_t part : {query_part, key_part}) {
    to_polar_backward(setting.encoding,
                      {.input = heads_of(qkv, setting, part, 3),
                       .output_gradient = heads_of(gradient, setting, part, 3),
                       .input_gradient = heads_of(dqkv, setting, part, 3),
                       .phases = part == key_part ? phases : std::span<double>()},
                      part == query_part ? Role::query : Role::key);
  }
  by_head(dqkv, setting, 3)
      .select(1, value_part)
      .copy_(own_part(by_head(gradient, setting, 3).select(1, value_part), setting));
  return dqkv;
}

at::Tensor attended_like(const at::Tensor& x, const AttentionSetting& setting) {
  return at::empty({x.size(0), setting.heads * attended_dim(setting)});
}

at::Tensor own_coordinates(const at::Tensor& attended, const AttentionSetting& setting) {
  if (!is_polar(setting)) return attended;
  return own_part(by_head(attended, setting, 1), setting).reshape({attended.size(0), setting.heads * setting.head_dim});
}

at::Tensor own_coordinates_backward(const at::Tensor& gradient, const AttentionSetting& setting) {
  if (!is_polar(setting)) return gradient;
  const at::Tensor wide = at::zeros({gradient.size(0), setting.heads * attended_dim(setting)});
  own_part(by_head(wide, setting, 1), setting).copy_(by_head(gradient, setting, 1));
  return wide;
}

}  // namespace locus::lab
