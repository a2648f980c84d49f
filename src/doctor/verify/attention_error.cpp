// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/attention_error.h"

#include <algorithm>
#include <cmath>

#include "locus/turn_output.h"

namespace locus::doctor {
namespace {

constexpr double u32 = 0x1p-24;

// Rows from neighbours: n + 4 roundings of a sum of n products (add.h), next to vectors of about unit entries. As a
// share of a vector they are at most the root of its width times that.
double row_roundings(const Encoding& encoding) {
  const HiddenRows& hidden = encoding.hidden();
  if (!hidden.neighbours) return 0;
  const Neighbours& from = *hidden.neighbours;
  const std::size_t n = from.weight.size() / static_cast<std::size_t>(hidden.dim);
  double most = 0;
  for (std::size_t first = 0; first < from.weight.size(); first += n) {
    double sum = 0;
    for (std::size_t i = first; i < first + n; ++i) sum += std::fabs(from.weight[i]);
    most = std::max(most, sum);
  }
  return static_cast<double>(n + 4) * most * std::sqrt(static_cast<double>(hidden.dim));
}

}  // namespace

AttentionError::AttentionError(const Sample& sample, const Encoding& encoding, const Sample::Exact& exact,
                               ElementType type)
    : sample_(sample), encoding_(encoding), exact_(exact), type_(type) {
  // Rotation: two float32 roundings and a table within 2^-24, over the two coordinates of a pair: less than 6 x 2^-24.
  if (encoding.site() == Site::query_key) input_error_ = unit_roundoff(type) + 6 * u32;
  // Addition: a float32 row, one float32 sum.
  if (encoding.site() == Site::hidden) input_error_ = unit_roundoff(type) + (2 + row_roundings(encoding)) * u32;
}

std::size_t AttentionError::row(std::int64_t token, std::int64_t head) const {
  return static_cast<std::size_t>(token * sample_.heads() + head);
}

double AttentionError::before_rounding(std::int64_t token, std::int64_t head) const {
  const double d = static_cast<double>(sample_.head_dim()), n = static_cast<double>(sample_.tokens() + padding_slots);
  const double s = exact_.magnitude[row(token, head)];
  return ((2 * (d + 16) * s + 4 * n + 16) * u32 + u32) * exact_.largest_value;
}

double AttentionError::of_attention(std::int64_t token, std::int64_t head, double output) const {
  const double error = before_rounding(token, head);
  const double smallest = type_ == ElementType::float16 ? 0x1p-25 : 0;  // half a step of a subnormal float16
  const double rounded = error + unit_roundoff(type_) * (std::fabs(output) + error) + smallest;
  if (!turns_output(encoding_)) return rounded;
  // Turned back: the errors of both coordinates of a pair, each as large as the largest value, and one more rotation.
  const double of_pair = error + unit_roundoff(type_) * (exact_.largest_value + error) + smallest;
  return 2 * of_pair + 2 * input_error_ * exact_.largest_value + smallest;
}

double AttentionError::of_everything(std::int64_t token, std::int64_t head, double output) const {
  const double score = 2 * input_error_ * (1 + input_error_) * exact_.norm_product[row(token, head)];
  const bool moves_values = encoding_.site() == Site::hidden || turns_output(encoding_);
  const double roundings = encoding_.site() == Site::hidden ? 1 : 2;  // a rotation combines two coordinates
  const double values = moves_values ? roundings * input_error_ * exact_.largest_value : 0;
  return of_attention(token, head, output) + std::expm1(2 * score) * exact_.largest_value + values;
}

double AttentionError::of_merge(std::int64_t token, std::int64_t head) const {
  const double d = static_cast<double>(sample_.head_dim()), n = static_cast<double>(sample_.tokens() + padding_slots);
  const double s = exact_.magnitude[row(token, head)];
  // A shard's log-sum-exp is at most that of all keys, and at least -s: the score of one of its keys.
  const double lse = std::fabs(exact_.log_sum_exp[row(token, head)]) + s;
  const double shard = ((d + 16) * s + n + 16) * u32 + lse * u32 + u32 / 2;
  return (2 * shard + (2 * lse + 5) * u32 + unit_roundoff(type_)) * exact_.largest_value;
}

double AttentionError::of_angles(std::int64_t token, std::int64_t head, Position position) const {
  const auto* rotation = std::get_if<Rotation>(&encoding_.term());
  if (rotation == nullptr) return 0;
  double angle = 0;
  // Frequency and product are rounded. ggml computes each frequency from the previous pair by multiplication.
  if (rotation->profile != Profile::exact) {
    angle += std::fabs(static_cast<double>(position)) * static_cast<double>(4 + rotation->pairs()) * u32;
  }
  if (rotation->table_type != ElementType::float32) angle += 2 * unit_roundoff(rotation->table_type);
  return std::expm1(2 * 2 * angle * exact_.norm_product[row(token, head)]) * exact_.largest_value;
}

}  // namespace locus::doctor
