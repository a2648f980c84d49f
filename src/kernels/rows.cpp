// SPDX-License-Identifier: Apache-2.0
#include "locus/rows.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "kernels/exact_rows.h"
#include "kernels/head_rows.h"
#include "kernels/hidden_rows.h"
#include "locus/error.h"
#include "locus/turns.h"
#include "profiles/engine_row.h"

namespace locus {
namespace {

// Real coordinates are in turns: the angle is 2 pi times coordinate times frequency.
double exact_angle(const Rotation& rotation, const Coordinates& coordinates, std::size_t pair) {
  const std::size_t axis = rotation.axis[pair];
  if (coordinates.real) return 2 * double_double_pi.hi * coordinates.centre[axis] * rotation.inv_freq[pair];
  const Turns start = rotation.phases.empty() ? 0 : rotation.phases[pair].turns;
  return angle_of(rotation.turns[pair], coordinates.whole[axis], start);
}

double scale_of(const Rotation& rotation, Role role, const Coordinates& coordinates, std::size_t pair) {
  const double magnitude = rotation.magnitude * query_factor(rotation, role, coordinates.whole[0]);
  if (!rotation.scale) return magnitude;
  const PairScale& scale = *rotation.scale;
  const double exponent = static_cast<double>(coordinates.whole[0] - scale.centre) / scale.scale_base;
  return magnitude * std::pow(scale.zeta[pair], role == Role::query ? exponent : -exponent);
}

template <class T>
void direct_row(const Rotation& rotation, Role role, const Coordinates& coordinates, std::span<T> cos,
                std::span<T> sin) {
  for (std::size_t i = 0; i < cos.size(); ++i) {
    const double angle = exact_angle(rotation, coordinates, i);
    const double scale = scale_of(rotation, role, coordinates, i);
    cos[i] = static_cast<T>(std::cos(angle) * scale);
    sin[i] = static_cast<T>(std::sin(angle) * scale);
  }
}

// The float32 row of integer coordinates. With several coordinates, each pair comes from the row of its coordinate.
void whole_row(const Rotation& rotation, Role role, const Coordinates& coordinates, std::span<float> cos,
               std::span<float> sin) {
  if (cos.empty()) return;
  const double magnitude = rotation.magnitude * query_factor(rotation, role, coordinates.whole[0]);
  exact_row(rotation, magnitude, coordinates.whole[rotation.axis[0]], cos.data(), sin.data());
  std::vector<float> other(2 * cos.size());
  const int axes = rotation.map.kind == PositionMap::Kind::direct ? rotation.axes : 2;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(axes); ++axis) {
    if (coordinates.whole[axis] == coordinates.whole[rotation.axis[0]]) continue;
    exact_row(rotation, magnitude, coordinates.whole[axis], other.data(), other.data() + cos.size());
    for (std::size_t i = 0; i < cos.size(); ++i) {
      if (rotation.axis[i] != axis) continue;
      cos[i] = other[i];
      sin[i] = other[cos.size() + i];
    }
  }
}

void multiply(double factor, std::span<float> values) {
  if (factor == 1) return;
  for (float& value : values) value = static_cast<float>(static_cast<double>(value) * factor);
}

}  // namespace

void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<float> cos,
                  std::span<float> sin) {
  const Coordinates coordinates = coordinates_of(rotation.map, ids);
  if (!coordinates.defined) {
    std::fill(cos.begin(), cos.end(), 1.0f);
    std::fill(sin.begin(), sin.end(), 0.0f);
    return;
  }
  double factor = 1;  // engines multiply queries after the rotation
  if (rotation.profile != Profile::exact) {
    engine_row(rotation, coordinates, cos, sin);
    factor = query_factor(rotation, role, coordinates.whole[0]);
  } else if (coordinates.real || rotation.scale) {
    direct_row(rotation, role, coordinates, cos, sin);
  } else {
    whole_row(rotation, role, coordinates, cos, sin);
  }
  round_to(rotation.table_type, cos);
  round_to(rotation.table_type, sin);
  multiply(factor, cos);
  multiply(factor, sin);
}

void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
                  std::span<double> sin) {
  const Coordinates coordinates = coordinates_of(rotation.map, ids);
  if (coordinates.defined && rotation.profile == Profile::exact && rotation.table_type == ElementType::float32) {
    direct_row(rotation, role, coordinates, cos, sin);
    return;
  }
  std::vector<float> single(cos.size() * 2);
  const auto half = std::span(single).first(cos.size());
  const auto rest = std::span(single).last(cos.size());
  rotation_row(rotation, role, ids, half, rest);
  std::copy(half.begin(), half.end(), cos.begin());
  std::copy(rest.begin(), rest.end(), sin.begin());
}

namespace {

// to_j = sum over i of row_i weights[i, j] for the first n entries; the other pairs have cos = sin = 1.
void mix_row(const Rotation& rotation, const float* weights, std::span<const double> row, std::span<double> to) {
  const auto n = static_cast<std::size_t>(rotation.mix->frequencies);
  std::fill(to.begin(), to.begin() + static_cast<std::ptrdiff_t>(n), 0.0);
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(n), to.end(), rotation.magnitude);
  double* sums = to.data();
  for (std::size_t i = 0; i < n; ++i, weights += n) {
    const double factor = row[i];
    for (std::size_t j = 0; j < n; ++j) sums[j] += factor * static_cast<double>(weights[j]);
  }
}

}  // namespace

void head_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::int64_t key_head,
              std::span<double> cos, std::span<double> sin) {
  if (!rotation.mix) return rotation_row(rotation, role, ids, cos, sin);
  std::vector<double> own(2 * cos.size());
  const auto own_cos = std::span(own).first(cos.size()), own_sin = std::span(own).last(sin.size());
  rotation_row(rotation, role, ids, own_cos, own_sin);
  const std::int64_t first = key_head * rotation.mix->frequencies * rotation.mix->frequencies;
  mix_row(rotation, rotation.mix->cos.data.data() + first, own_cos, cos);
  mix_row(rotation, rotation.mix->sin.data.data() + first, own_sin, sin);
}

void head_rows(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> rows) {
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  const HeadMix& mix = *rotation.mix;
  std::vector<double> own(2 * pairs);
  const auto cos = std::span(own).first(pairs), sin = std::span(own).last(pairs);
  rotation_row(rotation, role, ids, cos, sin);
  const std::int64_t square = mix.frequencies * mix.frequencies;
  for (std::int64_t head = 0; head < mix.heads; ++head) {
    const auto of_head = rows.subspan(static_cast<std::size_t>(head) * 2 * pairs, 2 * pairs);
    mix_row(rotation, mix.cos.data.data() + head * square, cos, of_head.first(pairs));
    mix_row(rotation, mix.sin.data.data() + head * square, sin, of_head.last(pairs));
  }
}

namespace {

// Whether ExactRows computes the row from the position alone.
bool plain(const Rotation& rotation) {
  return rotation.profile == Profile::exact && rotation.table_type == ElementType::float32 &&
         rotation.map.kind == PositionMap::Kind::direct && !rotation.scale;
}

Rotation without_query_scale(Rotation rotation) {
  rotation.query_scale.reset();
  return rotation;
}

void check_one_axis(const Rotation& rotation) {
  require(rotation.axes == 1, "rotation_rows: the encoding must have one axis, it has ", rotation.axes);
}

}  // namespace

void rotation_rows(const Rotation& given, Position first, std::int64_t count, float* rows) {
  const Rotation rotation = without_query_scale(given);
  check_one_axis(rotation);
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  if (plain(rotation)) {
    const StepRows steps(rotation.turns, start_of(rotation));
    ExactRows(steps, rotation.magnitude).rows(first, count, rows, 2 * pairs);
    return;
  }
  for (std::int64_t t = 0; t < count; ++t, rows += 2 * pairs) {
    const Position position = first + t;
    rotation_row(rotation, Role::query, std::span(&position, 1), std::span(rows, pairs),
                 std::span(rows + pairs, pairs));
  }
}

void rotation_rows(const Rotation& given, std::span<const Position> positions, float* rows) {
  const Rotation rotation = without_query_scale(given);
  check_one_axis(rotation);
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  const StepRows steps(rotation.turns, start_of(rotation));
  ExactRows exact(steps, rotation.magnitude);
  for (const Position& position : positions) {
    if (plain(rotation)) {
      exact.row(position, rows, rows + pairs);
    } else {
      rotation_row(rotation, Role::query, std::span(&position, 1), std::span(rows, pairs),
                   std::span(rows + pairs, pairs));
    }
    rows += 2 * pairs;
  }
}

namespace {

void check_has_rows(const HiddenRows& hidden) {
  require(!hidden.neighbours,
          "this encoding makes rows from the vectors of neighbours: an id alone has no row; use add");
}

}  // namespace

void hidden_row(const HiddenRows& hidden, Position id, std::span<float> row) {
  check_has_rows(hidden);
  const HiddenPlan plan(hidden);
  HiddenRowMaker(hidden, plan).row(id, row);
}

void hidden_row(const HiddenRows& hidden, Position id, std::span<double> row) {
  check_has_rows(hidden);
  if (hidden.waves.empty()) {
    const auto stored = hidden.table.row(id + hidden.row_offset);
    std::copy(stored.begin(), stored.end(), row.begin());
    return;
  }
  const Coordinates coordinates = coordinates_of(hidden.map, std::span(&id, 1));
  const bool silent = !coordinates.defined || hidden.zero_position == id;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Wave& wave = hidden.waves[j];
    const double angle = angle_of(wave.turns, coordinates.whole[wave.axis] + hidden.first_position);
    row[j] = silent || wave.silent ? 0 : wave.cosine ? std::cos(angle) : std::sin(angle);
  }
}

HiddenPlan::HiddenPlan(const HiddenRows& hidden) {
  if (hidden.waves.empty()) return;
  std::unordered_map<Turns, std::size_t> seen;  // the sine and the cosine of one frequency are computed together
  std::vector<Turns> turns;
  std::vector<std::size_t> frequency;
  for (const Wave& wave : hidden.waves) {
    const auto [entry, added] = seen.try_emplace(wave.turns, turns.size());
    if (added) turns.push_back(wave.turns);
    frequency.push_back(entry->second);
  }
  const std::size_t n = turns.size();
  axes = hidden.map.kind == PositionMap::Kind::direct ? 1 : 2;
  steps.emplace(std::move(turns));
  std::vector<std::size_t> values;  // the index of each column's value
  for (std::size_t j = 0; j < hidden.waves.size(); ++j) {
    const Wave& wave = hidden.waves[j];
    values.push_back(wave.silent ? 2 * n * axes : 2 * n * wave.axis + (wave.cosine ? 0 : n) + frequency[j]);
  }
  alternating = axes == 1 && values.size() == 2 * n;
  for (std::size_t j = 0; j < values.size(); ++j) {
    alternating = alternating && values[j] == (j % 2 == 0 ? n + j / 2 : j / 2);
  }
  if (alternating) return;
  for (std::size_t j = 0; j < values.size(); ++j) {
    if (!runs.empty() && values[j] == runs.back().value + runs.back().length) {
      ++runs.back().length;
    } else {
      runs.push_back({j, values[j], 1});
    }
  }
}

HiddenRowMaker::HiddenRowMaker(const HiddenRows& hidden, const HiddenPlan& plan) : hidden_(hidden), plan_(plan) {
  if (!plan.steps) return;
  rows_.emplace(*plan.steps, 1.0);
  values_.assign(2 * plan.steps->width() * plan.axes + 1, 0.0f);
}

void HiddenRowMaker::row(Position id, std::span<float> row) {
  if (!rows_) {
    const auto stored = hidden_.table.row(id + hidden_.row_offset);
    std::copy(stored.begin(), stored.end(), row.begin());
    return;
  }
  const Coordinates coordinates = coordinates_of(hidden_.map, std::span(&id, 1));
  if (!coordinates.defined || hidden_.zero_position == id) {
    std::fill(row.begin(), row.end(), 0.0f);
    return;
  }
  const std::size_t n = plan_.steps->width();
  for (std::size_t axis = 0; axis < plan_.axes; ++axis) {
    float* cos = values_.data() + 2 * n * axis;
    rows_->row(coordinates.whole[axis] + hidden_.first_position, cos, cos + n);
  }
  if (plan_.alternating) {
    interleave(values_.data() + n, values_.data(), n, row.data());
    return;
  }
  for (const HiddenPlan::Run& run : plan_.runs) {
    std::copy_n(values_.data() + run.value, run.length, row.data() + run.column);
  }
}

}  // namespace locus
