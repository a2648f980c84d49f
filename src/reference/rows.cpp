// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "locus/element.h"
#include "locus/reference.h"
#include "profiles/engine_row.h"

namespace locus::reference {
namespace {

// cos and sin of position * (w + w_low). The product carries its rounding error. std::remainder is exact for the
// double nearest to 2 pi, and the rest of 2 pi is subtracted once per turn.
struct CosSin {
  double cos;
  double sin;
};

CosSin turn(double position, double w, double w_low) {
  constexpr double two_pi = 6.283185307179586477;
  constexpr double two_pi_low = 2.449293598294706414e-16;
  const double product = position * w;
  const double lost = std::fma(position, w, -product) + position * w_low;
  const double rest = std::remainder(product, two_pi);
  const double turns = std::nearbyint((product - rest) / two_pi);
  const double angle = rest + (lost - turns * two_pi_low);
  return {std::cos(angle), std::sin(angle)};
}

bool before_prefix(const PositionMap& map, Position id) {
  return map.kind != PositionMap::Kind::direct && id < map.prefix;
}

double coordinate(const PositionMap& map, std::span<const Position> ids, int axis) {
  if (map.kind == PositionMap::Kind::direct) return static_cast<double>(ids[static_cast<std::size_t>(axis)]);
  const Position cell = ids[0] - map.prefix;
  const Position index = axis == 0 ? cell / map.width : cell % map.width;
  if (map.kind == PositionMap::Kind::row_column) return static_cast<double>(index);
  const std::int64_t extent = axis == 0 ? map.height : map.width;
  const double centre = (static_cast<double>(index) + 0.5) / static_cast<double>(extent);
  return 6.283185307179586477 * (2 * centre - 1);
}

double rounded(ElementType type, double value) {
  if (type == ElementType::bfloat16) return to_float(to_bfloat16(static_cast<float>(value)));
  if (type == ElementType::float16) return to_float(to_float16(static_cast<float>(value)));
  return value;
}

// Whether token s is in the run of consecutive ids around token t.
bool same_run(std::span<const Position> ids, std::int64_t t, std::int64_t s) {
  if (s < 0 || s >= static_cast<std::int64_t>(ids.size())) return false;
  for (std::int64_t i = std::min(s, t); i < std::max(s, t); ++i) {
    if (ids[static_cast<std::size_t>(i + 1)] != ids[static_cast<std::size_t>(i)] + 1) return false;
  }
  return true;
}

std::vector<double> neighbours_row(const HiddenRows& hidden, std::span<const Position> ids,
                                   std::span<const double> states, std::int64_t token) {
  const Neighbours& from = *hidden.neighbours;
  const std::int64_t group = hidden.dim / from.groups;
  std::vector<double> row;
  for (std::int64_t c = 0; c < hidden.dim; ++c) {
    double sum = from.bias[static_cast<std::size_t>(c)];
    for (std::int64_t j = 0; j < from.kernel; ++j) {
      const std::int64_t other = token + j - from.before;
      if (!same_run(ids, token, other)) continue;
      for (std::int64_t i = 0; i < group; ++i) {
        const std::int64_t input = c / group * group + i;
        double x = states[static_cast<std::size_t>(other * hidden.dim + input)];
        if (!from.input_scale.empty()) {
          x = x * from.input_scale[static_cast<std::size_t>(input)] + from.input_shift[static_cast<std::size_t>(input)];
        }
        sum += from.weight[static_cast<std::size_t>((c * group + i) * from.kernel + j)] * x;
      }
    }
    row.push_back(sum * 0.5 * std::erfc(-sum / std::sqrt(2.0)));
  }
  return row;
}

// The arithmetic of another engine is the definition here: there is no more exact value to compute.
void engine_row_of(const Rotation& rotation, double factor, std::span<const Position> ids, std::span<double> cos,
                   std::span<double> sin) {
  std::vector<float> c(cos.size()), s(sin.size());
  engine_row(rotation, coordinates_of(rotation.map, ids), c, s);
  for (std::size_t i = 0; i < c.size(); ++i) {
    cos[i] = rounded(rotation.table_type, c[i]) * factor;
    sin[i] = rounded(rotation.table_type, s[i]) * factor;
  }
}

// Pair j of a head has the sum over frequencies i of row_i weights[head, i, j]; pairs beyond them have 1.
std::vector<double> mixed(const HeadMix& mix, const Tensor& weights, std::int64_t head,
                          const std::vector<double>& row) {
  std::vector<double> result(row.size(), 1.0);
  for (std::int64_t j = 0; j < mix.frequencies; ++j) {
    double sum = 0;
    for (std::int64_t i = 0; i < mix.frequencies; ++i) {
      const std::int64_t at = (head * mix.frequencies + i) * mix.frequencies + j;
      sum += row[static_cast<std::size_t>(i)] * static_cast<double>(weights.data[static_cast<std::size_t>(at)]);
    }
    result[static_cast<std::size_t>(j)] = sum;
  }
  return result;
}

}  // namespace

double query_factor(const Rotation& rotation, Role role, Position id) {
  if (role == Role::key || !rotation.query_scale) return 1;
  const QueryScale& scale = *rotation.query_scale;
  const double n = static_cast<double>(id + scale.shift), length = static_cast<double>(scale.length);
  if (n < length) return 1;
  if (scale.kind == QueryScale::Kind::logarithm) return std::max(1.0, std::log(n) / std::log(length));
  return 1 + scale.beta * std::log1p(std::floor(n / length));
}

void rotation_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
                  std::span<double> sin) {
  const bool placed = !before_prefix(rotation.map, ids[0]);
  if (rotation.profile != Profile::exact && placed) {
    return engine_row_of(rotation, query_factor(rotation, role, ids[0]), ids, cos, sin);
  }
  for (std::size_t i = 0; i < cos.size(); ++i) {
    if (!placed) {
      cos[i] = 1;
      sin[i] = 0;
      continue;
    }
    CosSin unit = turn(coordinate(rotation.map, ids, rotation.axis[i]), rotation.inv_freq[i], rotation.inv_freq_low[i]);
    if (!rotation.phases.empty()) {
      const CosSin start = turn(1, rotation.phases[i].radians, rotation.phases[i].low);
      unit = {unit.cos * start.cos - unit.sin * start.sin, unit.sin * start.cos + unit.cos * start.sin};
    }
    double scale = rotation.magnitude * query_factor(rotation, role, ids[0]);
    if (rotation.scale) {
      const double steps = static_cast<double>(ids[0] - rotation.scale->centre) / rotation.scale->scale_base;
      const double grown = std::exp(steps * std::log(rotation.scale->zeta[i]));
      scale = role == Role::query ? scale * grown : scale / grown;
    }
    cos[i] = rounded(rotation.table_type, unit.cos * scale);
    sin[i] = rounded(rotation.table_type, unit.sin * scale);
  }
}

void mix_row(const Rotation& rotation, std::int64_t key_head, std::vector<double>& cos, std::vector<double>& sin) {
  if (!rotation.mix) return;
  cos = mixed(*rotation.mix, rotation.mix->cos, key_head, cos);
  sin = mixed(*rotation.mix, rotation.mix->sin, key_head, sin);
}

std::vector<double> rotate(const Rotation& rotation, Role role, Direction direction, std::span<const Position> ids,
                           std::span<const double> head, std::int64_t key_head) {
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  const auto start = static_cast<std::size_t>(rotation.rotary_offset);
  std::vector<double> cos(pairs);
  std::vector<double> sin(pairs);
  reference::rotation_row(rotation, role, ids, cos, sin);
  mix_row(rotation, key_head, cos, sin);
  std::vector<double> result(head.begin(), head.end());
  for (double& value : result) value *= query_factor(rotation, role, ids[0]);  // those that are not rotated
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t near = start + i;
    const std::size_t far = start + pairs + i;
    const std::size_t even = start + 2 * i;
    const std::size_t odd = start + 2 * i + 1;
    const bool interleaved = rotation.pairing == Pairing::interleaved;
    std::size_t in_x = interleaved ? even : near;
    std::size_t in_y = interleaved ? odd : far;
    std::size_t out_x = rotation.deinterleaved_output ? near : in_x;
    std::size_t out_y = rotation.deinterleaved_output ? far : in_y;
    double s = sin[i];
    if (direction == Direction::inverse) {
      std::swap(in_x, out_x);
      std::swap(in_y, out_y);
      s = -s;
    }
    result[out_x] = head[in_x] * cos[i] - head[in_y] * s;
    result[out_y] = head[in_x] * s + head[in_y] * cos[i];
  }
  return result;
}

std::vector<double> to_polar(const Polar& polar, Role role, std::span<const double> head, std::int64_t key_head) {
  std::vector<double> result;
  for (std::size_t c = 0; c < head.size(); ++c) {
    if (static_cast<std::int64_t>(c) >= polar.channels) {
      result.push_back(head[c]);
      continue;
    }
    // ln(1 + e^x), from the side on which e^x does not overflow
    const double length = head[c] > 0 ? head[c] + std::log1p(std::exp(-head[c])) : std::log1p(std::exp(head[c]));
    const auto entry = static_cast<std::size_t>(key_head * polar.channels) + c;
    const double angle = role == Role::key ? polar.phases[entry] : 0;
    result.push_back(length * std::cos(angle));
    result.push_back(length * std::sin(angle));
  }
  return result;
}

std::vector<double> hidden_row(const HiddenRows& hidden, Position id) {
  std::vector<double> row(static_cast<std::size_t>(hidden.dim), 0.0);
  if (hidden.waves.empty()) {
    const auto stored = hidden.table.row(id + hidden.row_offset);
    return {stored.begin(), stored.end()};
  }
  if (hidden.zero_position == id || before_prefix(hidden.map, id)) return row;
  for (std::size_t j = 0; j < row.size(); ++j) {
    const Wave& wave = hidden.waves[j];
    if (wave.silent) continue;
    const double position =
        coordinate(hidden.map, std::span(&id, 1), wave.axis) + static_cast<double>(hidden.first_position);
    const CosSin unit = turn(position, wave.inv_freq, wave.inv_freq_low);
    row[j] = wave.cosine ? unit.cos : unit.sin;
  }
  return row;
}

std::vector<double> add_rows(const HiddenRows& hidden, std::span<const Position> ids, std::span<const double> states) {
  std::vector<double> result(states.begin(), states.end());
  const auto tokens = static_cast<std::int64_t>(ids.size());
  for (std::int64_t t = 0; t < tokens; ++t) {
    const std::vector<double> row = hidden.neighbours ? neighbours_row(hidden, ids, states, t)
                                                      : hidden_row(hidden, ids[static_cast<std::size_t>(t)]);
    for (std::size_t c = 0; c < row.size(); ++c) result[static_cast<std::size_t>(t * hidden.dim) + c] += row[c];
  }
  return result;
}

}  // namespace locus::reference
