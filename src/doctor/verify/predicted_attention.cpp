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

// Returns the lengths of the pairs of a rotated head, one per frequency.
void pair_lengths(const Rotation& rotation, std::span<const double> head, std::span<double> lengths) {
  const bool split = rotation.pairing == Pairing::half || rotation.deinterleaved_output;
  for (std::int64_t i = 0; i < rotation.pairs(); ++i) {
    const std::int64_t x = rotation.rotary_offset + (split ? i : 2 * i), y = split ? x + rotation.pairs() : x + 1;
    lengths[at(i)] = std::sqrt(head[at(x)] * head[at(x)] + head[at(y)] * head[at(y)]);
  }
}

std::vector<double> softmax_weights(std::span<const double> scores) {
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

PredictedAttention::PredictedAttention(const Encoding& encoding, const FaultModel& model, const AttendCall& call,
                                       SharedNumbers& shared)
    : model_(active(model, call.asked)),
      call_(call),
      shared_(shared),
      rotation_(std::get_if<Rotation>(&encoding.term())),
      bias_(std::get_if<ScoreBias>(&encoding.term())),
      relative_(model_.relative ? model_.relative.get() : std::get_if<RelativeKeys>(&encoding.term())) {
  scale_ = 1 / std::sqrt(static_cast<double>(call.head_dim));
  if (bias_ != nullptr && bias_->softmax_scale) scale_ = *bias_->softmax_scale;
  if (relative_ != nullptr && relative_->softmax_scale) scale_ = *relative_->softmax_scale;
  if (rotation_ != nullptr) {
    turned_.emplace(*rotation_, model_, &shared);
    scale_ *= rotation_->softmax_scale_factor;
  }
  scale_ *= model_.scale;
  const std::size_t heads = at(call.asked.keys * call.key_heads);
  key_made_.assign(heads, 0);
  value_made_.assign(heads, 0);
  keys_.resize(heads * at(call.head_dim));
  values_.resize(heads * at(call.head_dim));
  if (rotation_ != nullptr) key_pairs_.resize(heads * at(rotation_->pairs()));
  if (model_.id) key_ids_.resize(at(call.asked.keys));
}

// True if the key is in the page that the branches of a fork share.
bool PredictedAttention::reads_other_branch(std::int64_t key) const {
  const std::int64_t page = model_.shared_page;
  return page > 0 && !call_.asked.overwritten.empty() && call_.asked.overwritten[at(key)] != 0 &&
         call_.asked.shared % page != 0 && key / page == call_.asked.shared / page;
}

Position PredictedAttention::key_id(std::int64_t key) {
  if (key_ids_.empty()) return call_.asked.key_ids[at(key)];
  std::optional<Position>& id = key_ids_[at(key)];
  if (!id) id = id_under(model_, call_.asked, Role::key, key);
  return *id;
}

// A slot is read after rotation, so the key of another token has the position of that token.
std::span<const double> PredictedAttention::key_of(std::int64_t key, std::int64_t head) {
  const std::size_t place = at(key * call_.key_heads + head), width = at(call_.head_dim);
  const auto result = std::span(keys_).subspan(place * width, width);
  if (key_made_[place] != 0) return result;
  const std::int64_t slot = model_.key_slot ? model_.key_slot(call_.asked, key) : key;
  if (slot >= 0 && slot < call_.asked.keys) {
    const std::span<const double> from = reads_other_branch(slot) ? call_.other_key : call_.key;
    const auto own = from.subspan(at(slot * call_.key_heads + head) * width, width);
    std::copy(own.begin(), own.end(), result.begin());
    if (turned_) turned_->rotate_head(call_.asked, {Role::key, slot, head, call_.key_heads}, result);
    if (model_.stored) {
      for (double& x : result) x = rounded_to(*model_.stored, x);
    }
  }
  if (rotation_ != nullptr) {
    const std::size_t pairs = at(rotation_->pairs());
    pair_lengths(*rotation_, result, std::span(key_pairs_).subspan(place * pairs, pairs));
  }
  key_made_[place] = 1;
  return result;
}

std::span<const double> PredictedAttention::value_of(std::int64_t key, std::int64_t head) {
  const std::size_t place = at(key * call_.key_heads + head), width = at(call_.head_dim);
  const auto result = std::span(values_).subspan(place * width, width);
  if (value_made_[place] != 0) return result;
  const std::int64_t slot = model_.value_slot ? model_.value_slot(call_.asked, key) : key;
  if (slot >= 0 && slot < call_.asked.keys) {
    const std::span<const double> from = reads_other_branch(slot) ? call_.other_value : call_.value;
    const auto own = from.subspan(at(slot * call_.key_heads + head) * width, width);
    std::copy(own.begin(), own.end(), result.begin());
    if (model_.values_rotated && turned_) {
      turned_->rotate_head(call_.asked, {Role::key, slot, head, call_.key_heads}, result);
    }
  }
  value_made_[place] = 1;
  return result;
}

double PredictedAttention::key_span() {
  if (!key_span_) {
    const auto [least, most] = std::minmax_element(call_.asked.key_ids.begin(), call_.asked.key_ids.end());
    key_span_ = static_cast<double>(*most - *least);
  }
  return *key_span_;
}

std::int64_t PredictedAttention::value_head_of(std::int64_t head) const {
  const auto& map = model_.value_head ? model_.value_head : model_.key_head;
  return map ? map(head, call_.heads, call_.key_heads) : head / (call_.heads / call_.key_heads);
}

// Returns W_r R(distance) of Transformer-XL for one head.
const std::vector<double>& PredictedAttention::projected(std::int64_t head, Position distance) {
  std::vector<double>& row = (model_.relative ? projected_ : shared_.projected)[{head, distance}];
  if (!row.empty()) return row;
  double ignored = 0;
  const std::vector<double> wave = reference::hidden_row(relative_->sinusoid, distance);
  for (std::int64_t j = 0; j < call_.head_dim; ++j) {
    row.push_back(dot(std::span<const double>(wave), relative_->w_r.row(head * call_.head_dim + j), ignored));
  }
  return row;
}

// Returns the position term of the score alone, and adds the absolute values of its summands to `size`.
double PredictedAttention::term(std::int64_t head, std::span<const double> q, std::span<const double> k, Position query,
                                Position key, double& size) {
  double own = 0, sum = 0;
  if (model_.bias || bias_ != nullptr) {
    sum = model_.bias ? model_.bias(head, query, key)
                      : bias_->value(head, inside_window(bias_->max_id, query), inside_window(bias_->max_id, key));
    if (bias_ != nullptr && bias_->before_scale && !model_.bias) sum *= scale_;
    size += std::fabs(sum);
    return sum;
  }
  if (relative_ == nullptr) return 0;
  if (relative_->index) {
    const RelativeKeys& keys = *relative_;
    const std::int64_t index = keys.index(query, key);
    sum = dot(q, keys.row(keys.key_table, index, head), own);
    if (keys.column_index) sum += dot(q, keys.row(keys.column_table, keys.column_index(query, key), head), own);
    if (keys.meets_keys()) sum += dot(k, keys.row(keys.meeting_table(), index, head), own);
  } else {
    const std::span<const double> met(projected(head, query - key));
    sum = dot(k, relative_->u.row(head), own) + dot(q, met, own) + dot(met, relative_->v.row(head), own);
  }
  const double factor = relative_->scaled ? scale_ : 1.0;
  size += own * std::fabs(factor);
  return sum * factor;
}

// Returns the error of a score that the angles of its pairs cause.
double PredictedAttention::angle_error(std::span<const double> query_pairs, std::int64_t key, std::int64_t key_head,
                                       Position query_id, const Rounding& rounding) {
  double sum = 0;
  for (std::size_t i = 0; i < query_pairs.size(); ++i) {
    const double key_pair = key_pairs_[at(key * call_.key_heads + key_head) * query_pairs.size() + i];
    sum += query_pairs[i] * key_pair * rotation_->inv_freq[i];
  }
  const double both = rounding.angle_error(1, query_id) + rounding.angle_error(1, key_id(key));
  return sum * both * std::fabs(scale_);
}

// The query as a key sees it under an offset map: turned by the difference between the remapped offset and its own.
// Empty without a map.
std::vector<double> PredictedAttention::remapped_query(std::span<const double> q, Position query, Position key) const {
  const Rotation* used = model_.rotation ? model_.rotation.get() : rotation_;
  if (rotation_ == nullptr || !used->offsets) return {};
  const OffsetMap& map = *used->offsets;
  std::size_t region = 0;
  while (region + 1 < map.regions.size() && key < map.regions[region].first_key(query)) ++region;
  const Position offset = map.regions[region].query_at(query) - map.regions[region].key_at(key);
  const double change =
      static_cast<double>(offset - (query - key) * map.denominator) / static_cast<double>(map.denominator);
  std::vector<double> turned(q.begin(), q.end());
  const std::size_t pairs = at(rotation_->pairs()), first = at(rotation_->rotary_offset);
  const bool neighbours = rotation_->pairing == Pairing::interleaved && !rotation_->deinterleaved_output;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t x = first + (neighbours ? 2 * i : i), y = neighbours ? x + 1 : x + pairs;
    const double angle = change * rotation_->inv_freq[i] + change * rotation_->inv_freq_low[i];
    turned[x] = q[x] * std::cos(angle) - q[y] * std::sin(angle);
    turned[y] = q[x] * std::sin(angle) + q[y] * std::cos(angle);
  }
  return turned;
}

void PredictedAttention::score_keys(std::int64_t query, std::int64_t head, std::span<const double> q,
                                    const Rounding& rounding, Scores& result) {
  const AskedCall& asked = call_.asked;
  const std::int64_t own_head = head / (call_.heads / call_.key_heads);
  const std::int64_t key_head = model_.key_head ? model_.key_head(head, call_.heads, call_.key_heads) : own_head;
  const Position query_id = id_under(model_, asked, Role::query, query);
  const double d = static_cast<double>(call_.head_dim), query_length = length(q), u = 0x1p-24;
  const double width = std::sqrt(std::max(1.0, d / 2));
  std::vector<double> query_pairs(rotation_ != nullptr ? at(rotation_->pairs()) : 0);
  if (rotation_ != nullptr) pair_lengths(*rotation_, q, query_pairs);
  const std::size_t scored = at(call_.head_dim - model_.lost_coordinates);
  for (std::int64_t key = 0; key < asked.keys; ++key) {
    bool seen = visible(asked, query, key);
    if (model_.sees) seen = model_.sees(asked, query, key, seen);
    if (!seen) continue;
    const std::span<const double> k = key_of(key, key_head);
    double size = 0;
    const std::vector<double> remapped = remapped_query(q, query_id, key_id(key));
    const std::span<const double> met = remapped.empty() ? q : std::span<const double>(remapped);
    const double content = dot(met.first(scored), k.first(scored), size) * scale_;
    size *= std::fabs(scale_);
    const double product = query_length * length(k) * std::fabs(scale_);
    double term_size = 0;
    double score = content + term(head, q, k, query_id, key_id(key), term_size);
    if (model_.rescore) score = model_.rescore(asked, query, key, score);
    size += term_size;
    // The bound of attention.h for a plain loop, of rotated vectors (see Rounding), and of angles.
    double error =
        (2 * (d + 16) * size + 32 * product) * u + angle_error(query_pairs, key, key_head, query_id, rounding);
    error += 12 * rounding.table * product / width;
    // A value near a rounding boundary may be rounded either way.
    if (model_.stored) error += unit_roundoff(*model_.stored) * product;
    // Code may count distances from any key of the call, since softmax ignores the difference.
    if (bias_ != nullptr && !bias_->slopes.empty()) error += 2 * u * bias_->slopes[at(head)] * key_span();
    if (rounding.narrow()) {
      // Six roundings of each rotated pair, independent of other pairs, at four standard deviations; then those of the
      // score and of the number added to it.
      error += rounding.unit() * (12 * std::max(product, size) / width + 4 * (std::fabs(score) + term_size));
    }
    result.keys.push_back(key);
    result.scores.push_back(score);
    result.errors.push_back(std::expm1(std::min(2 * error, 20.0)) / 2);
  }
}

void PredictedAttention::append_unasked(Row& row) const {
  row.output.insert(row.output.end(), at(call_.head_dim), 0.0);
  row.tolerance.insert(row.tolerance.end(), at(call_.head_dim), HUGE_VAL);
  row.log_sum_exp.push_back(-HUGE_VAL);
  row.score_error.push_back(HUGE_VAL);
  row.blind.push_back(0);
}

// A mask of large negative numbers makes all scores equal: the result is the mean of all values.
void PredictedAttention::append_blind(std::int64_t head, const Rounding& rounding, Row& row) {
  const double n = static_cast<double>(call_.asked.keys);
  std::vector<double> mean(at(call_.head_dim), 0.0);
  double largest = 0;
  for (std::int64_t key = 0; key < call_.asked.keys; ++key) {
    const std::span<const double> value = value_of(key, value_head_of(head));
    for (std::size_t j = 0; j < mean.size(); ++j) {
      mean[j] += value[j] / n;
      largest = std::max(largest, std::fabs(value[j]));
    }
  }
  row.output.insert(row.output.end(), mean.begin(), mean.end());
  const double error = (8 * n + 32) * 0x1p-24 * largest + (rounding.narrow() ? 4 * rounding.unit() * largest : 0.0);
  row.tolerance.insert(row.tolerance.end(), mean.size(), error);
  row.log_sum_exp.push_back(-HUGE_VAL);
  row.score_error.push_back(HUGE_VAL);
  row.blind.push_back(1);
}

void PredictedAttention::append_head(std::int64_t query, std::int64_t head, const Scores& seen,
                                     const Rounding& rounding, Row& row) {
  const std::vector<double> right = softmax_weights(seen.scores);
  const std::vector<double> weights = model_.weights ? model_.weights(call_.asked, seen.scores, seen.keys) : right;
  const std::int64_t value_head = value_head_of(head);
  for (const std::int64_t key : seen.keys) value_of(key, value_head);
  const Position query_id = id_under(model_, call_.asked, Role::query, query);
  const bool joined = relative_ != nullptr && !relative_->value_table.data.empty();
  const double n = static_cast<double>(seen.keys.size()), u = 0x1p-24;
  // The error of a rotated value is relative to its pair, however small the coordinate is.
  double turned_error = 0;
  for (std::size_t i = 0; model_.values_rotated && i < seen.keys.size(); ++i) {
    turned_error = std::max(turned_error, 16 * u * length(value_of(seen.keys[i], value_head)));
  }
  std::vector<double> values(seen.keys.size());
  for (std::int64_t j = 0; j < call_.head_dim; ++j) {
    double sum = 0, size = 0, largest = 0;
    for (std::size_t i = 0; i < seen.keys.size(); ++i) {
      double value = values_[at((seen.keys[i] * call_.key_heads + value_head) * call_.head_dim + j)];
      if (joined) {
        const std::int64_t index = relative_->index(query_id, key_id(seen.keys[i]));
        value += static_cast<double>(relative_->value_table.row(index)[at(j)]);
      }
      values[i] = value;
      sum += weights[i] * value;
      size += std::fabs(weights[i] * value);
      largest = std::max(largest, std::fabs(value));
    }
    double error = (8 * n + 32) * u * largest + turned_error;
    for (std::size_t i = 0; i < values.size(); ++i) {
      error += std::fabs(weights[i]) * seen.errors[i] * std::fabs(values[i] - sum);
    }
    if (rounding.narrow()) error += 4 * rounding.unit() * size + n * 0x1p-25 * largest;
    row.output.push_back(sum);
    row.tolerance.push_back(error);
  }
  const double top = *std::max_element(seen.scores.begin(), seen.scores.end());
  double total = 0, off = 0;
  for (std::size_t i = 0; i < seen.scores.size(); ++i) {
    total += std::exp(seen.scores[i] - top);
    off += right[i] * seen.errors[i];
  }
  row.blind.push_back(0);
  row.log_sum_exp.push_back(top + std::log(total));
  row.score_error.push_back(off + (n + 16) * u + 2 * std::fabs(row.log_sum_exp.back()) * rounding.unit());
}

std::optional<PredictedAttention::Row> PredictedAttention::row(std::int64_t query, const Rounding& rounding,
                                                               std::optional<std::int64_t> only) try {
  const std::int64_t width = call_.heads * call_.head_dim;
  const auto own = call_.query.subspan(at(query * width), at(width));
  std::vector<double> turned(own.begin(), own.end());
  if (turned_) turned_->rotate(call_.asked, Role::query, query, call_.heads, own, turned);
  Row result;
  for (std::int64_t head = 0; head < call_.heads; ++head) {
    if (only && *only != head) {
      append_unasked(result);
      continue;
    }
    Scores seen;
    score_keys(query, head, std::span<const double>(turned).subspan(at(head * call_.head_dim), at(call_.head_dim)),
               rounding, seen);
    if (seen.keys.empty()) {
      append_blind(head, rounding, result);
    } else {
      append_head(query, head, seen, rounding, result);
    }
  }
  return result;
} catch (const Error&) {
  return {};
}

}  // namespace locus::doctor
