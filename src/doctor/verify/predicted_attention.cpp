// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/predicted_attention.h"

#include <algorithm>
#include <cmath>

#include "doctor/verify/index.h"
#include "locus/error.h"
#include "locus/reference.h"

namespace locus::doctor {
namespace {

template <class A, class B>
double dot(std::span<const A> a, std::span<const B> b, double& size) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double product = static_cast<double>(a[i]) * static_cast<double>(b[i]);
    sum += product;
    size += std::fabs(product);
  }
  return sum;
}

double length(std::span<const double> a) {
  double squares = 0;
  for (const double x : a) squares += x * x;
  return std::sqrt(squares);
}

// The lengths of the pairs of a rotated head, one per frequency.
void append_pair_lengths(const Rotation& rotation, std::span<const double> head, std::vector<double>& lengths) {
  const bool split = rotation.pairing == Pairing::half || rotation.deinterleaved_output;
  for (std::int64_t i = 0; i < rotation.pairs(); ++i) {
    const std::int64_t x = rotation.rotary_offset + (split ? i : 2 * i), y = split ? x + rotation.pairs() : x + 1;
    lengths.push_back(std::hypot(head[at(x)], head[at(y)]));
  }
}

std::vector<double> softmax(std::span<const double> scores) {
  const double top = *std::max_element(scores.begin(), scores.end());
  std::vector<double> weights;
  double total = 0;
  for (const double score : scores) {
    weights.push_back(std::exp(score - top));
    total += weights.back();
  }
  for (double& weight : weights) weight /= total;
  return weights;
}

}  // namespace

struct PredictedAttention::Scores {
  std::vector<std::int64_t> keys;
  std::vector<double> scores, errors;
};

PredictedAttention::PredictedAttention(const Encoding& encoding, const FaultModel& model, const AttendCall& call)
    : encoding_(encoding),
      model_(active(model, call.asked)),
      call_(call),
      rotation_(std::get_if<Rotation>(&encoding.term())),
      bias_(std::get_if<ScoreBias>(&encoding.term())),
      relative_(model_.relative ? model_.relative.get() : std::get_if<RelativeKeys>(&encoding.term())) {
  scale_ = 1 / std::sqrt(static_cast<double>(call.head_dim));
  if (bias_ != nullptr && bias_->softmax_scale) scale_ = *bias_->softmax_scale;
  if (rotation_ != nullptr) {
    turned_.emplace(*rotation_, model_);
    scale_ *= rotation_->softmax_scale_factor;
  }
  scale_ *= model_.scale;
  read_keys();
}

// In the page that the branches of a fork share.
bool PredictedAttention::reads_other_branch(std::int64_t key) const {
  const std::int64_t page = model_.shared_page;
  return page > 0 && !call_.asked.overwritten.empty() && call_.asked.overwritten[at(key)] != 0 &&
         call_.asked.shared % page != 0 && key / page == call_.asked.shared / page;
}

void PredictedAttention::read_keys() {
  const std::int64_t row = call_.key_heads * call_.head_dim;
  keys_.assign(at(call_.asked.keys * row), 0.0);
  values_ = keys_;
  const auto copy = [&](std::span<const double> from, std::int64_t slot, std::vector<double>& to, std::int64_t key) {
    if (slot < 0 || slot >= call_.asked.keys) return;
    std::copy_n(from.begin() + slot * row, row, to.begin() + key * row);
  };
  // Slots are read after rotation: what is stored for another token carries that token's position.
  std::vector<double> turned(keys_.size());
  for (std::int64_t key = 0; key < call_.asked.keys; ++key) {
    key_ids_.push_back(ids_under(model_, call_.asked, Role::key, key)[0]);
    const bool foreign = reads_other_branch(key);
    const auto own = (foreign ? call_.other_key : call_.key).subspan(at(key * row), at(row));
    const auto result = std::span(turned).subspan(at(key * row), at(row));
    if (turned_) {
      turned_->rotate(call_.asked, Role::key, key, call_.key_heads, own, result);
    } else {
      std::copy(own.begin(), own.end(), result.begin());
    }
  }
  for (std::int64_t key = 0; key < call_.asked.keys; ++key) {
    copy(turned, model_.key_slot ? model_.key_slot(call_.asked, key) : key, keys_, key);
    for (std::int64_t head = 0; rotation_ != nullptr && head < call_.key_heads; ++head) {
      append_pair_lengths(
          *rotation_, std::span(keys_).subspan(at(key * row + head * call_.head_dim), at(call_.head_dim)), key_pairs_);
    }
    copy(reads_other_branch(key) ? call_.other_value : call_.value,
         model_.value_slot ? model_.value_slot(call_.asked, key) : key, values_, key);
    const auto value = std::span(values_).subspan(at(key * row), at(row));
    if (model_.values_rotated && turned_) {
      const std::vector<double> plain(value.begin(), value.end());
      turned_->rotate(call_.asked, Role::key, key, call_.key_heads, plain, value);
    }
  }
}

// What position adds to the score, by itself; its summands' absolute values are added to `size`.
double PredictedAttention::term(std::int64_t head, std::span<const double> q, std::span<const double> k, Position query,
                                Position key, double& size) {
  double own = 0, sum = 0;
  if (model_.bias || bias_ != nullptr) {
    sum = model_.bias ? model_.bias(head, query, key) : bias_->value(head, query, key);
    if (bias_ != nullptr && bias_->before_scale && !model_.bias) sum *= scale_;
    size += std::fabs(sum);
    return sum;
  }
  if (relative_ == nullptr) return 0;
  if (relative_->index) {
    const std::span<const float> row = relative_->key_table.row(relative_->index(query, key));
    sum = dot(q, row, own) + (relative_->meets_key ? dot(k, row, own) : 0.0);
  } else {
    std::vector<double>& projected = projected_[{head, query - key}];
    if (projected.empty()) {
      double ignored = 0;
      const std::vector<double> wave = reference::hidden_row(relative_->sinusoid, query - key);
      for (std::int64_t j = 0; j < call_.head_dim; ++j) {
        projected.push_back(dot(std::span<const double>(wave), relative_->w_r.row(head * call_.head_dim + j), ignored));
      }
    }
    const std::span<const double> met(projected);
    sum = dot(k, relative_->u.row(head), own) + dot(q, met, own) + dot(met, relative_->v.row(head), own);
  }
  const double factor = relative_->scaled ? scale_ : 1.0;
  size += own * std::fabs(factor);
  return sum * factor;
}

// Of a score, by the angles of its pairs.
double PredictedAttention::angle_error(std::span<const double> query_pairs, std::int64_t key, std::int64_t key_head,
                                       Position query_id, const Rounding& rounding) const {
  double sum = 0;
  for (std::size_t i = 0; i < query_pairs.size(); ++i) {
    const double key_pair = key_pairs_[at(key * call_.key_heads + key_head) * query_pairs.size() + i];
    sum += query_pairs[i] * key_pair * rotation_->inv_freq[i];
  }
  const double both = rounding.angle_error(1, query_id) + rounding.angle_error(1, key_ids_[at(key)]);
  return sum * both * std::fabs(scale_);
}

void PredictedAttention::score_keys(std::int64_t query, std::int64_t head, std::span<const double> q,
                                    const Rounding& rounding, Scores& result) {
  const AskedCall& asked = call_.asked;
  const std::int64_t own_head = head / (call_.heads / call_.key_heads);
  const std::int64_t key_head = model_.key_head ? model_.key_head(head, call_.heads, call_.key_heads) : own_head;
  const Position query_id = ids_under(model_, asked, Role::query, query)[0];
  const double d = static_cast<double>(call_.head_dim), query_length = length(q), u = 0x1p-24;
  const double width = std::sqrt(std::max(1.0, d / 2));
  std::vector<double> query_pairs;
  if (rotation_ != nullptr) append_pair_lengths(*rotation_, q, query_pairs);
  for (std::int64_t key = 0; key < asked.keys; ++key) {
    bool seen = visible(asked, query, key);
    if (model_.sees) seen = model_.sees(asked, query, key, seen);
    if (!seen) continue;
    const auto k = std::span<const double>(keys_).subspan(at((key * call_.key_heads + key_head) * call_.head_dim),
                                                          at(call_.head_dim));
    double size = 0;
    const double content = dot(q, k, size) * scale_;
    size *= std::fabs(scale_);
    const double product = query_length * length(k) * std::fabs(scale_);
    double term_size = 0;
    const double score = content + term(head, q, k, query_id, key_ids_[at(key)], term_size);
    size += term_size;
    // attention.h's bound for a plain loop; rotated vectors, see Rounding; and angles.
    double error =
        (2 * (d + 16) * size + 32 * product) * u + angle_error(query_pairs, key, key_head, query_id, rounding);
    if (rounding.narrow()) {
      // Six roundings of each rotated pair, independent of those of the others, at four standard deviations; those of
      // the score and of what is added to it.
      error += rounding.unit() * (12 * std::max(product, size) / width + 4 * (std::fabs(score) + term_size));
    }
    result.keys.push_back(key);
    result.scores.push_back(score);
    result.errors.push_back(std::expm1(std::min(2 * error, 20.0)) / 2);
  }
}

std::optional<PredictedAttention::Row> PredictedAttention::row(std::int64_t query, const Rounding& rounding) try {
  const std::int64_t width = call_.heads * call_.head_dim;
  const auto own = call_.query.subspan(at(query * width), at(width));
  std::vector<double> turned(own.begin(), own.end());
  if (turned_) turned_->rotate(call_.asked, Role::query, query, call_.heads, own, turned);
  const Position query_id = ids_under(model_, call_.asked, Role::query, query)[0];
  Row result;
  for (std::int64_t head = 0; head < call_.heads; ++head) {
    Scores seen;
    score_keys(query, head, std::span<const double>(turned).subspan(at(head * call_.head_dim), at(call_.head_dim)),
               rounding, seen);
    if (seen.keys.empty()) {  // 0 or NaN, as it comes
      result.output.insert(result.output.end(), at(call_.head_dim), 0.0);
      result.tolerance.insert(result.tolerance.end(), at(call_.head_dim), HUGE_VAL);
      result.log_sum_exp.push_back(-HUGE_VAL);
      result.score_error.push_back(HUGE_VAL);
      continue;
    }
    const std::vector<double> right = softmax(seen.scores);
    const std::vector<double> weights = model_.weights ? model_.weights(call_.asked, seen.scores, seen.keys) : right;
    const std::int64_t own_head = head / (call_.heads / call_.key_heads);
    const std::int64_t value_head = model_.value_head ? model_.value_head(head, call_.heads, call_.key_heads)
                                    : model_.key_head ? model_.key_head(head, call_.heads, call_.key_heads)
                                                      : own_head;
    const double n = static_cast<double>(seen.keys.size()), u = 0x1p-24;
    for (std::int64_t j = 0; j < call_.head_dim; ++j) {
      std::vector<double> values;
      double sum = 0, size = 0, largest = 0;
      for (std::size_t i = 0; i < seen.keys.size(); ++i) {
        double value = values_[at((seen.keys[i] * call_.key_heads + value_head) * call_.head_dim + j)];
        if (relative_ != nullptr && !relative_->value_table.data.empty()) {
          const auto row = relative_->value_table.row(relative_->index(query_id, key_ids_[at(seen.keys[i])]));
          value += static_cast<double>(row[at(j)]);
        }
        values.push_back(value);
        sum += weights[i] * value;
        size += std::fabs(weights[i] * value);
        largest = std::max(largest, std::fabs(value));
      }
      double error = (8 * n + 32) * u * largest;
      for (std::size_t i = 0; i < values.size(); ++i) {
        error += std::fabs(weights[i]) * seen.errors[i] * std::fabs(values[i] - sum);
      }
      if (rounding.narrow()) error += 4 * rounding.unit() * size + n * 0x1p-25 * largest;
      result.output.push_back(sum);
      result.tolerance.push_back(error);
    }
    const double top = *std::max_element(seen.scores.begin(), seen.scores.end());
    double total = 0, off = 0;
    for (std::size_t i = 0; i < seen.scores.size(); ++i) {
      total += std::exp(seen.scores[i] - top);
      off += right[i] * seen.errors[i];
    }
    result.log_sum_exp.push_back(top + std::log(total));
    result.score_error.push_back(off + (n + 16) * u + 2 * std::fabs(result.log_sum_exp.back()) * rounding.unit());
  }
  return result;
} catch (const Error&) {
  return {};
}

}  // namespace locus::doctor
