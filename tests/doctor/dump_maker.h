// SPDX-License-Identifier: Apache-2.0
// Makes dumps with a given fault: rotates vectors pair by pair, by the definition, and stores them in a given type.
#pragma once

#include <cmath>
#include <complex>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "locus/doctor/diagnose.h"
#include "locus/element.h"
#include "locus/encoding.h"

namespace locus::testing {

struct DumpShape {
  std::int64_t batch = 1;
  std::int64_t tokens = 16;
  std::int64_t heads = 2;
  std::int64_t head_dim = 64;
};

inline double stored(ElementType type, double value) {
  if (type == ElementType::bfloat16) return static_cast<double>(to_float(to_bfloat16(value)));
  if (type == ElementType::float16) return static_cast<double>(to_float(to_float16(value)));
  return static_cast<double>(static_cast<float>(value));
}

/// What the code under test did.
struct Culprit {
  TurnedSlice slice;
  std::vector<double> w;            ///< radians per position
  std::vector<Position> positions;  ///< [batch * tokens]
  double magnitude = 1;
  double sign = 1;   ///< -1: backwards
  double times = 1;  ///< 2: applied twice
  std::function<double(Position, double frequency)> angle = [](Position p, double frequency) {
    return static_cast<double>(p) * frequency;
  };
  std::function<std::int64_t(std::int64_t head)> source = [](std::int64_t head) { return head; };
};

inline RotationDump make_dump(const DumpShape& shape, const Culprit& culprit, ElementType type, std::mt19937& random) {
  RotationDump dump{shape.batch, shape.tokens, shape.heads, shape.head_dim, {}, {}};
  std::normal_distribution<double> normal;
  const std::int64_t rows = shape.batch * shape.tokens;
  const std::int64_t count = rows * shape.heads * shape.head_dim;
  for (std::int64_t n = 0; n < count; ++n) dump.before.push_back(stored(type, normal(random)));
  dump.after = dump.before;
  const std::int64_t half = culprit.slice.rotary_dim / 2;
  for (std::int64_t n = 0; n < rows * shape.heads; ++n) {
    const std::int64_t row = n / shape.heads;
    const double* from = dump.before.data() + (row * shape.heads + culprit.source(n % shape.heads)) * shape.head_dim;
    double* to = dump.after.data() + n * shape.head_dim;
    std::copy(from, from + shape.head_dim, to);
    for (std::int64_t i = 0; i < half; ++i) {
      const std::int64_t o = culprit.slice.rotary_offset;
      const bool side_by_side = culprit.slice.pairing == Pairing::interleaved;
      const std::int64_t x = o + (side_by_side ? 2 * i : i);
      const std::int64_t y = o + (side_by_side ? 2 * i + 1 : i + half);
      const bool apart = !side_by_side || culprit.slice.deinterleaved_output;
      const double angle =
          culprit.sign * culprit.times *
          culprit.angle(culprit.positions[static_cast<std::size_t>(row)], culprit.w[static_cast<std::size_t>(i)]);
      const double size = std::pow(culprit.magnitude, culprit.times);
      to[apart ? o + i : x] = stored(type, size * (from[x] * std::cos(angle) - from[y] * std::sin(angle)));
      to[apart ? o + i + half : y] = stored(type, size * (from[x] * std::sin(angle) + from[y] * std::cos(angle)));
    }
  }
  return dump;
}

/// Returns the culprit that implements `encoding`.
inline Culprit innocent(const Encoding& encoding, std::vector<Position> positions) {
  const Rotation& rotation = encoding.rotation();
  return {.slice = {rotation.pairing, rotation.deinterleaved_output, rotation.rotary_offset, rotation.rotary_dim},
          .w = rotation.inv_freq,
          .positions = std::move(positions),
          .magnitude = rotation.magnitude};
}

inline std::vector<Position> counted(const DumpShape& shape, Position first = 0) {
  std::vector<Position> positions;
  for (std::int64_t n = 0; n < shape.batch * shape.tokens; ++n) positions.push_back(first + n % shape.tokens);
  return positions;
}

}  // namespace locus::testing
