// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/sample.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "doctor/verify/index.h"
#include "locus/add.h"
#include "locus/reference.h"
#include "locus/turn_output.h"

namespace locus::doctor {
namespace {

// Text has one axis; an image, sound and a video within text have three or more, and patches two.
PositionIds ids_for(const Encoding& encoding, std::int64_t tokens, Position start) {
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  const int axes = rotation == nullptr ? 1 : rotation->axes;
  if (axes == 1) return positions::prefill(tokens, start);
  PositionIds all;
  if (axes == 2) {
    all = positions::grid((tokens + 3) / 4, 4);
  } else {
    const std::vector<positions::Segment> segments{positions::Text{tokens / 8}, positions::Vision{1, 2, 3},
                                                   positions::Audio{3, 1.5}, positions::Vision{2, 1, 2, 2.5},
                                                   positions::Text{tokens}};
    all = positions::multimodal(segments).ids;
  }
  PositionIds ids{.axes = axes, .tokens = tokens, .ids = {}};
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const auto row = all.axis(std::min(axis, all.axes - 1));
    for (std::int64_t t = 0; t < tokens; ++t) ids.ids.push_back(row[at(t)] + start);
  }
  return ids;
}

// Returns the sample's rows at the slots. Padding is NaN, which must have no effect.
std::vector<double> rows_at(std::span<const double> all, std::span<const std::int64_t> slots, std::int64_t width) {
  std::vector<double> rows;
  for (const std::int64_t slot : slots) {
    for (std::int64_t j = 0; j < width; ++j) {
      rows.push_back(slot == padding ? std::numeric_limits<double>::quiet_NaN() : all[at(slot * width + j)]);
    }
  }
  return rows;
}

// Which head of how many.
struct HeadIndex {
  std::int64_t head, heads;
};

std::vector<double> rotated(const Encoding& encoding, Role role, std::span<const double> head,
                            std::span<const Position> ids, const HeadIndex& index,
                            Direction direction = Direction::forward) {
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  if (rotation == nullptr) return {head.begin(), head.end()};
  const std::int64_t key_head = rotation->mix ? index.head / (index.heads / rotation->mix->heads) : 0;
  return reference::rotate(*rotation, role, direction, ids, head, key_head);
}

double length_of(std::span<const double> head) {
  double sum = 0;
  for (const double x : head) sum += x * x;
  return std::sqrt(sum);
}

double largest(std::span<const double> values) {
  double most = 0;
  for (const double x : values) most = std::max(most, std::fabs(x));
  return most;
}

}  // namespace

HeadsView numbers_view(const HeadsArray& numbers) {
  const HeadsView view = numbers.view();
  return view.head_dim == 0 ? HeadsView{} : view;
}

HeadsArray Sample::numbers_of_first(std::int64_t count) const {
  const std::int64_t row = shape_.heads * number_count_;
  return {ElementType::float64, {1, count, shape_.heads, number_count_}, std::span(numbers_).first(at(count * row))};
}

Sample::Sample(const Encoding& encoding, const SampleShape& shape, Position start, RandomNumbers& random)
    : encoding_(encoding), shape_(shape), ids_(ids_for(encoding, shape.tokens, start)) {
  const auto& [tokens, heads, key_heads, head_dim] = shape;
  if (const auto* bias = std::get_if<ScoreBias>(&encoding.term())) number_count_ = bias->token_numbers;
  numbers_ = random.elements(tokens * heads * number_count_);
  const std::size_t row = at(heads * number_count_);
  for (std::size_t i = 0; i < numbers_.size(); ++i) {  // running sums of numbers that are not above 0
    numbers_[i] = (i < row ? 0 : numbers_[i - row]) - std::fabs(numbers_[i]);
  }
  if (encoding.site() != Site::hidden) {
    query_ = random.elements(tokens * heads * head_dim);
    key_ = random.elements(tokens * key_heads * head_dim);
    value_ = random.elements(tokens * key_heads * head_dim);
    return;
  }
  const std::int64_t dim = encoding.hidden().dim;
  hidden_ = random.elements(tokens * dim);
  const auto choose = [&](std::int64_t count) {
    std::vector<std::int64_t> choice;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t column = random.up_to(dim - 1) + 1;
      choice.push_back(random.up_to(1) == 0 ? column : -column);
    }
    return choice;
  };
  choose_query_ = choose(heads * head_dim);
  choose_key_ = choose(key_heads * head_dim);
  choose_value_ = choose(key_heads * head_dim);
}

PositionIds Sample::ids_of(std::span<const std::int64_t> slots, std::int64_t batch, Position shift) const {
  PositionIds ids{
      .axes = ids_.axes, .batch = batch, .tokens = static_cast<std::int64_t>(slots.size()) / batch, .ids = {}};
  for (std::int64_t axis = 0; axis < ids_.axes; ++axis) {
    const auto row = ids_.axis(axis);
    for (const std::int64_t slot : slots) ids.ids.push_back(row[at(std::max<std::int64_t>(slot, 0))] + shift);
  }
  return ids;
}

std::vector<double> Sample::project(std::span<const double> hidden, std::span<const std::int64_t> choice) const {
  const std::int64_t dim = encoding_.hidden().dim;
  std::vector<double> rows;
  for (std::int64_t first = 0; first < static_cast<std::int64_t>(hidden.size()); first += dim) {
    for (const std::int64_t column : choice) {
      const double value = hidden[at(first + std::abs(column) - 1)];
      rows.push_back(column < 0 ? -value : value);
    }
  }
  return rows;
}

Encoded Sample::encode(const Encoding& encoding, ElementType type, std::span<const std::int64_t> slots,
                       std::int64_t batch, Position shift, std::span<const std::int64_t> placed_as) const {
  const std::span<const std::int64_t> where = placed_as.empty() ? slots : placed_as;
  const std::int64_t tokens = static_cast<std::int64_t>(slots.size()) / batch;
  const Extents query{batch, tokens, shape_.heads, shape_.head_dim},
      key{batch, tokens, shape_.key_heads, shape_.head_dim};
  const PositionIds ids = ids_of(where, batch, shift);
  std::vector<double> q, k, v;
  if (encoding.site() == Site::hidden) {
    const std::int64_t dim = encoding.hidden().dim;
    const HeadsArray states(type, {batch, tokens, 1, dim}, rows_at(hidden_, slots, dim));
    const HeadsView view = states.view();
    add(encoding, {view.data, type, batch, tokens, dim, view.batch_stride, view.token_stride}, ids);
    const std::vector<double> moved = states.values();
    q = project(moved, choose_query_);
    k = project(moved, choose_key_);
    v = project(moved, choose_value_);
  } else {
    q = rows_at(query_, slots, shape_.heads * shape_.head_dim);
    k = rows_at(key_, slots, shape_.key_heads * shape_.head_dim);
    v = rows_at(value_, slots, shape_.key_heads * shape_.head_dim);
  }
  Encoded result{HeadsArray(type, query, q),
                 HeadsArray(type, key, k),
                 HeadsArray(type, key, k),
                 HeadsArray(type, key, v),
                 {},
                 ids.ids,
                 HeadsArray(ElementType::float64, {batch, tokens, shape_.heads, number_count_},
                            rows_at(numbers_, slots, shape_.heads * number_count_))};
  if (encoding.site() == Site::query_key) {
    rotate(encoding, result.query.view(), ids, Role::query);
    rotate(encoding, result.key.view(), ids, Role::key);
    if (turns_output(encoding)) rotate(encoding, result.value.view(), ids, Role::key);
  }
  for (const std::int64_t slot : where) result.places.push_back(place(std::max<std::int64_t>(slot, 0)) + shift);
  return result;
}

std::vector<double> Sample::exact_states(std::span<const std::int64_t> slots, std::int64_t token) const {
  const std::int64_t dim = encoding_.hidden().dim;
  const std::vector<double> states =
      reference::add_rows(encoding_.hidden(), ids_of(slots, 1, 0).ids, rows_at(hidden_, slots, dim));
  return project(std::span(states).subspan(at(token * dim), at(dim)), choose_query_);
}

Sample::Inputs Sample::exact_inputs(const Encoding& encoding, const PositionIds& ids) const {
  if (encoding.site() != Site::hidden) return {query_, key_, value_, 0};
  std::vector<double> states = hidden_;
  double row = 0;
  states = reference::add_rows(encoding.hidden(), ids.ids, hidden_);
  for (std::size_t i = 0; i < states.size(); ++i) row = std::max(row, std::fabs(states[i] - hidden_[i]));
  return {project(states, choose_query_), project(states, choose_key_), project(states, choose_value_), row};
}

Sample::Exact Sample::exact(const Encoding& encoding, Position shift, bool causal,
                            const std::function<Encoding(std::int64_t)>& keys_under) const {
  std::vector<std::int64_t> slots;
  for (std::int64_t t = 0; t < shape_.tokens; ++t) slots.push_back(t);
  const PositionIds ids = ids_of(slots, 1, shift);
  Inputs inputs = exact_inputs(encoding, ids);
  std::vector<double>&q = inputs.query, &k = inputs.key, &v = inputs.value;
  const double row = inputs.largest_row;
  Exact result;
  std::vector<double> query_norms, key_norms, value_norms;
  const auto ids_at = [&](std::int64_t t) {
    std::vector<Position> own;
    for (std::int64_t axis = 0; axis < ids.axes; ++axis) own.push_back(ids.axis(axis)[at(t)]);
    return own;
  };
  const auto turn = [&](std::vector<double>& rows, std::int64_t heads, Role role, std::vector<double>& norms) {
    for (std::int64_t t = 0; t < shape_.tokens; ++t) {
      const std::vector<Position> own = ids_at(t);
      const Encoding under = role == Role::key && keys_under ? keys_under(t) : encoding;
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto head = std::span(rows).subspan(at((t * heads + h) * shape_.head_dim), at(shape_.head_dim));
        const std::vector<double> turned = rotated(under, role, head, own, {h, heads});
        std::copy(turned.begin(), turned.end(), head.begin());
        // A vector with an added row has the rounding errors of both.
        norms.push_back(length_of(turned) + row * std::sqrt(static_cast<double>(shape_.head_dim)));
      }
    }
  };
  turn(q, shape_.heads, Role::query, query_norms);
  turn(k, shape_.key_heads, Role::key, key_norms);
  const bool turns = turns_output(encoding);
  if (turns) turn(v, shape_.key_heads, Role::key, value_norms);

  const HeadsArray query(ElementType::float64, {1, shape_.tokens, shape_.heads, shape_.head_dim}, q);
  const HeadsArray key(ElementType::float64, {1, shape_.tokens, shape_.key_heads, shape_.head_dim}, k);
  const HeadsArray value(ElementType::float64, {1, shape_.tokens, shape_.key_heads, shape_.head_dim}, v);
  std::vector<Position> places;
  for (std::int64_t t = 0; t < shape_.tokens; ++t) places.push_back(place(t) + shift);
  AttentionCall call{.query = query.view(), .key = key.view(), .value = value.view(), .output = query.view()};
  call.encoding = &encoding;
  call.query_ids = call.key_ids = places;
  call.mask.causal = causal;
  const HeadsArray numbers(ElementType::float64, {1, shape_.tokens, shape_.heads, number_count_}, numbers_);
  call.query_numbers = call.key_numbers = numbers_view(numbers);
  const reference::Attention attention = reference::attend(call);

  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  const double scale =
      (rotation == nullptr ? 1.0 : rotation->softmax_scale_factor) / std::sqrt(static_cast<double>(shape_.head_dim));
  const std::int64_t group = shape_.heads / shape_.key_heads;
  for (std::int64_t t = 0; t < shape_.tokens; ++t) {
    for (std::int64_t h = 0; h < shape_.heads; ++h) {
      const auto from = attention.output.begin() + (h * shape_.tokens + t) * shape_.head_dim;
      std::vector<double> output(from, from + shape_.head_dim);
      if (turns) output = rotated(encoding, Role::key, output, ids_at(t), {h, shape_.heads}, Direction::inverse);
      result.output.insert(result.output.end(), output.begin(), output.end());
      result.log_sum_exp.push_back(attention.log_sum_exp[at(h * shape_.tokens + t)]);
      result.magnitude.push_back(attention.magnitude[at(h * shape_.tokens + t)]);
      double key_norm = 0;
      for (std::int64_t j = 0; j < (causal ? t + 1 : shape_.tokens); ++j) {
        key_norm = std::max(key_norm, key_norms[at(j * shape_.key_heads + h / group)]);
      }
      result.norm_product.push_back(scale * query_norms[at(t * shape_.heads + h)] * key_norm);
    }
  }
  result.largest_value = largest(v) + row;
  if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) {
    double more = 0;
    for (const float x : keys->value_table.data) more = std::max(more, std::fabs(static_cast<double>(x)));
    result.largest_value += more;
  }
  return result;
}

}  // namespace locus::doctor
