// SPDX-License-Identifier: Apache-2.0
#include "locus/rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>

#include "kernels/exact_rows.h"
#include "kernels/hidden_rows.h"
#include "locus/error.h"
#include "locus/turns.h"

namespace locus {
namespace {

constexpr std::size_t max_axes = 4;

// Where a token is, after the map: whole coordinates, or real ones, or nowhere (a prefix token).
struct Place {
  bool placed = true;
  bool real = false;
  std::array<Position, max_axes> whole{};
  std::array<double, max_axes> centre{};

  double coordinate(std::size_t axis) const { return real ? centre[axis] : static_cast<double>(whole[axis]); }
};

Place place_of(const PositionMap& map, std::span<const Position> ids) {
  Place place;
  if (map.kind == PositionMap::Kind::direct) {
    std::copy(ids.begin(), ids.end(), place.whole.begin());
    return place;
  }
  const Position id = ids[0] - map.prefix;
  place.placed = id >= 0;
  const Position row = id / map.width;
  const Position column = id % map.width;
  if (map.kind == PositionMap::Kind::row_column) {
    place.whole = {row, column};
  } else {
    place.real = true;
    place.centre = {(static_cast<double>(row) + 0.5) / static_cast<double>(map.height) * 2 - 1,
                    (static_cast<double>(column) + 0.5) / static_cast<double>(map.width) * 2 - 1};
  }
  return place;
}

// Real coordinates are in turns already: DINOv3's angle is 2 pi times coordinate times frequency.
double exact_angle(const Rotation& rotation, const Place& place, std::size_t pair) {
  const std::size_t axis = rotation.axis[pair];
  if (place.real) return 2 * double_double_pi.hi * place.centre[axis] * rotation.inv_freq[pair];
  return angle_of(rotation.turns[pair], place.whole[axis]);
}

double scale_of(const Rotation& rotation, Role role, const Place& place, std::size_t pair) {
  if (!rotation.scale) return rotation.magnitude;
  const PairScale& scale = *rotation.scale;
  const double exponent = static_cast<double>(place.whole[0] - scale.centre) / scale.scale_base;
  return rotation.magnitude * std::pow(scale.zeta[pair], role == Role::query ? exponent : -exponent);
}

template <class T>
void direct_row(const Rotation& rotation, Role role, const Place& place, std::span<T> cos, std::span<T> sin) {
  for (std::size_t i = 0; i < cos.size(); ++i) {
    const double angle = exact_angle(rotation, place, i);
    const double scale = scale_of(rotation, role, place, i);
    cos[i] = static_cast<T>(std::cos(angle) * scale);
    sin[i] = static_cast<T>(std::sin(angle) * scale);
  }
}

// The float32 row of whole coordinates. Pairs driven by one coordinate share a row; M-RoPE and grids take each pair
// from the row of its own coordinate.
void whole_row(const Rotation& rotation, const Place& place, std::span<float> cos, std::span<float> sin) {
  exact_row(rotation.turns, rotation.magnitude, place.whole[rotation.axis[0]], cos.data(), sin.data());
  std::vector<float> other(2 * cos.size());
  const int axes = rotation.map.kind == PositionMap::Kind::direct ? rotation.axes : 2;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(axes); ++axis) {
    if (place.whole[axis] == place.whole[rotation.axis[0]]) continue;
    exact_row(rotation.turns, rotation.magnitude, place.whole[axis], other.data(), other.data() + cos.size());
    for (std::size_t i = 0; i < cos.size(); ++i) {
      if (rotation.axis[i] != axis) continue;
      cos[i] = other[i];
      sin[i] = other[cos.size() + i];
    }
  }
}

// transformers and vLLM: the angle is a float32 product, its cosine a float32, the factor multiplied in float32.
void single_row(const Rotation& rotation, const Place& place, std::span<float> cos, std::span<float> sin) {
  const float magnitude = static_cast<float>(rotation.magnitude);
  for (std::size_t i = 0; i < cos.size(); ++i) {
    float position = static_cast<float>(place.coordinate(rotation.axis[i]));
    if (place.real) position *= static_cast<float>(2 * double_double_pi.hi);
    const float angle = position * rotation.single_freq[i];
    cos[i] = static_cast<float>(std::cos(static_cast<double>(angle))) * magnitude;
    sin[i] = static_cast<float>(std::sin(static_cast<double>(angle))) * magnitude;
  }
}

// ggml's pair index at which a frequency turns `times` within the original length.
float ggml_correction(const GgmlRope& call, float times) {
  const float pi = static_cast<float>(double_double_pi.hi);
  return static_cast<float>(call.n_dims) * std::log(static_cast<float>(call.original_length) / (times * 2 * pi)) /
         (2 * std::log(call.freq_base));
}

// ggml: the angle of the next pair is the last one times base^(-2/n_dims), all in float32.
void ggml_row(const Rotation& rotation, const Place& place, std::span<float> cos, std::span<float> sin) {
  const GgmlRope& call = *rotation.ggml;
  const float step = std::pow(call.freq_base, -2.0f / static_cast<float>(call.n_dims));
  float low = 0;
  float high = 0;
  float magnitude = call.attn_factor;
  if (call.ext_factor != 0) {
    low = std::max(0.0f, std::floor(ggml_correction(call, call.beta_fast)));
    high = std::min(static_cast<float>(call.n_dims - 1), std::ceil(ggml_correction(call, call.beta_slow)));
    magnitude *= 1.0f + 0.1f * std::log(1.0f / call.freq_scale);
  }
  std::array<float, max_axes> theta{};
  for (std::size_t a = 0; a < max_axes; ++a) theta[a] = static_cast<float>(place.whole[a]);
  for (std::size_t i = 0; i < cos.size(); ++i) {
    const std::size_t axis = rotation.axis[i];
    if (rotation.restarts_per_axis && i > 0 && axis != rotation.axis[i - 1]) {
      theta[axis] = static_cast<float>(place.whole[axis]);
    }
    const float kept = call.freq_factors.empty() ? theta[axis] : theta[axis] / call.freq_factors[i];
    float angle = call.freq_scale * kept;
    if (call.ext_factor != 0) {
      const float ramp = (static_cast<float>(i) - low) / std::max(0.001f, high - low);
      const float keep = (1 - std::min(1.0f, std::max(0.0f, ramp))) * call.ext_factor;
      angle = angle * (1 - keep) + kept * keep;
    }
    cos[i] = std::cos(angle) * magnitude;
    sin[i] = std::sin(angle) * magnitude;
    for (float& t : theta) t *= step;
  }
}

void round_to(ElementType type, std::span<float> values) {
  for (float& value : values) {
    if (type == ElementType::bfloat16) value = to_float(to_bfloat16(value));
    if (type == ElementType::float16) value = to_float(to_float16(value));
  }
}

}  // namespace

void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<float> cos,
                  std::span<float> sin) {
  const Place place = place_of(rotation.map, ids);
  if (!place.placed) {
    std::fill(cos.begin(), cos.end(), 1.0f);
    std::fill(sin.begin(), sin.end(), 0.0f);
    return;
  }
  switch (rotation.profile) {
    case Profile::exact:
      if (place.real || rotation.scale) {
        direct_row(rotation, role, place, cos, sin);
      } else {
        whole_row(rotation, place, cos, sin);
      }
      break;
    case Profile::hf:
    case Profile::vllm:
      single_row(rotation, place, cos, sin);
      break;
    case Profile::ggml:
      ggml_row(rotation, place, cos, sin);
      break;
  }
  if (rotation.table_type != ElementType::float32) {
    round_to(rotation.table_type, cos);
    round_to(rotation.table_type, sin);
  }
}

void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
                  std::span<double> sin) {
  const Place place = place_of(rotation.map, ids);
  if (place.placed && rotation.profile == Profile::exact && rotation.table_type == ElementType::float32) {
    direct_row(rotation, role, place, cos, sin);
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

// Whether rows are what ExactRows makes of the position alone.
bool plain(const Rotation& rotation) {
  return rotation.profile == Profile::exact && rotation.table_type == ElementType::float32 &&
         rotation.map.kind == PositionMap::Kind::direct && !rotation.scale;
}

void check_one_axis(const Rotation& rotation) {
  require(rotation.axes == 1, "rotation_rows: the encoding must have one axis, it has ", rotation.axes);
}

}  // namespace

void rotation_rows(const Rotation& rotation, Position first, std::int64_t count, float* rows) {
  check_one_axis(rotation);
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  if (plain(rotation)) {
    const StepRows steps(rotation.turns);
    ExactRows(steps, rotation.magnitude).rows(first, count, rows, 2 * pairs);
    return;
  }
  for (std::int64_t t = 0; t < count; ++t, rows += 2 * pairs) {
    const Position position = first + t;
    rotation_row(rotation, Role::query, std::span(&position, 1), std::span(rows, pairs),
                 std::span(rows + pairs, pairs));
  }
}

void rotation_rows(const Rotation& rotation, std::span<const Position> positions, float* rows) {
  check_one_axis(rotation);
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  const StepRows steps(rotation.turns);
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

void hidden_row(const HiddenRows& hidden, Position id, std::span<float> row) {
  const HiddenPlan plan(hidden);
  HiddenRowMaker(hidden, plan).row(id, row);
}

void hidden_row(const HiddenRows& hidden, Position id, std::span<double> row) {
  if (hidden.waves.empty()) {
    const auto stored = hidden.table.row(id + hidden.row_offset);
    std::copy(stored.begin(), stored.end(), row.begin());
    return;
  }
  const Place place = place_of(hidden.map, std::span(&id, 1));
  const bool silent = !place.placed || hidden.zero_position == id;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Wave& wave = hidden.waves[j];
    const double angle = angle_of(wave.turns, place.whole[wave.axis] + hidden.first_position);
    row[j] = silent || wave.silent ? 0 : wave.cosine ? std::cos(angle) : std::sin(angle);
  }
}

HiddenPlan::HiddenPlan(const HiddenRows& hidden) {
  if (hidden.waves.empty()) return;
  std::unordered_map<Turns, std::size_t> seen;  // a sine and a cosine of one frequency share what is computed
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
  std::vector<std::size_t> values;  // where each column is found
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
  const Place place = place_of(hidden_.map, std::span(&id, 1));
  if (!place.placed || hidden_.zero_position == id) {
    std::fill(row.begin(), row.end(), 0.0f);
    return;
  }
  const std::size_t n = plan_.steps->width();
  for (std::size_t axis = 0; axis < plan_.axes; ++axis) {
    float* cos = values_.data() + 2 * n * axis;
    rows_->row(place.whole[axis] + hidden_.first_position, cos, cos + n);
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
