// SPDX-License-Identifier: Apache-2.0
#include "locus/rows.h"

#include <algorithm>
#include <array>
#include <cmath>

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
void exact_row(const Rotation& rotation, Role role, const Place& place, std::span<T> cos, std::span<T> sin) {
  for (std::size_t i = 0; i < cos.size(); ++i) {
    const double angle = exact_angle(rotation, place, i);
    const double scale = scale_of(rotation, role, place, i);
    cos[i] = static_cast<T>(std::cos(angle) * scale);
    sin[i] = static_cast<T>(std::sin(angle) * scale);
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
float ggml_correction(const GgmlRope& rope, float times) {
  const float pi = static_cast<float>(double_double_pi.hi);
  return static_cast<float>(rope.n_dims) * std::log(static_cast<float>(rope.original_length) / (times * 2 * pi)) /
         (2 * std::log(rope.freq_base));
}

// ggml: the angle of the next pair is the last one times base^(-2/n_dims), all in float32.
void ggml_row(const Rotation& rotation, const Place& place, std::span<float> cos, std::span<float> sin) {
  const GgmlRope& rope = *rotation.ggml;
  const float step = std::pow(rope.freq_base, -2.0f / static_cast<float>(rope.n_dims));
  float low = 0;
  float high = 0;
  float magnitude = rope.attn_factor;
  if (rope.ext_factor != 0) {
    low = std::max(0.0f, std::floor(ggml_correction(rope, rope.beta_fast)));
    high = std::min(static_cast<float>(rope.n_dims - 1), std::ceil(ggml_correction(rope, rope.beta_slow)));
    magnitude *= 1.0f + 0.1f * std::log(1.0f / rope.freq_scale);
  }
  std::array<float, max_axes> theta{};
  for (std::size_t a = 0; a < max_axes; ++a) theta[a] = static_cast<float>(place.whole[a]);
  for (std::size_t i = 0; i < cos.size(); ++i) {
    const std::size_t axis = rotation.axis[i];
    if (rotation.restarts_per_axis && i > 0 && axis != rotation.axis[i - 1]) {
      theta[axis] = static_cast<float>(place.whole[axis]);
    }
    const float kept = rope.freq_factors.empty() ? theta[axis] : theta[axis] / rope.freq_factors[i];
    float angle = rope.freq_scale * kept;
    if (rope.ext_factor != 0) {
      const float ramp = (static_cast<float>(i) - low) / std::max(0.001f, high - low);
      const float keep = (1 - std::min(1.0f, std::max(0.0f, ramp))) * rope.ext_factor;
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
      exact_row(rotation, role, place, cos, sin);
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
    exact_row(rotation, role, place, cos, sin);
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

template <class T>
void any_hidden_row(const HiddenRows& hidden, Position id, std::span<T> row) {
  if (hidden.waves.empty()) {
    const auto stored = hidden.table.row(id + hidden.row_offset);
    std::copy(stored.begin(), stored.end(), row.begin());
    return;
  }
  const Place place = place_of(hidden.map, std::span(&id, 1));
  const bool silent = !place.placed || hidden.zero_position == id;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Wave& wave = hidden.waves[j];
    if (silent || wave.silent) {
      row[j] = 0;
      continue;
    }
    const double angle = angle_of(wave.turns, place.whole[wave.axis] + hidden.first_position);
    row[j] = static_cast<T>(wave.cosine ? std::cos(angle) : std::sin(angle));
  }
}

}  // namespace

void hidden_row(const HiddenRows& hidden, Position id, std::span<float> row) { any_hidden_row(hidden, id, row); }
void hidden_row(const HiddenRows& hidden, Position id, std::span<double> row) { any_hidden_row(hidden, id, row); }

}  // namespace locus
