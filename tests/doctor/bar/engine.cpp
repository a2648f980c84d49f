// SPDX-License-Identifier: Apache-2.0
#include "doctor/bar/engine.h"

#include <cmath>
#include <complex>
#include <numbers>

namespace locus::bar {
namespace {

struct Turn {
  double cos, sin;
};

struct Vector {
  std::int64_t row, head;
  int times;
};

Turn turn_of(const Engine& engine, const Numerics& numerics, const Vector& vector, std::int64_t pair) {
  const std::int64_t row = vector.row;
  const auto at = static_cast<std::size_t>(pair);
  const int axis = engine.axis.empty() ? 0 : engine.axis[at];
  const std::int64_t id = engine.ids[static_cast<std::size_t>(axis)][static_cast<std::size_t>(row)];
  long double angle = static_cast<long double>(id) * engine.w[at];
  if (engine.angle) {
    angle = engine.angle(id, engine.w[at]);
  } else if (numerics.float32_angles) {
    // A power and a quotient in float32: the frequency is off by up to one unit.
    float w = static_cast<float>(engine.w[at]);
    if (pair % 3 != 0) w = std::nextafter(w, pair % 3 == 1 ? 2 * w : 0.0F);
    angle = static_cast<long double>(static_cast<float>(id) * w);
  }
  angle *= vector.times;
  if (engine.bend) angle = engine.bend(row, vector.head, pair, angle);
  const long double sine = engine.form == Form::late_sin ? angle + engine.w[at] : angle;
  double magnitude = std::pow(engine.magnitude, std::abs(vector.times));
  if (engine.scale) magnitude = engine.scale(magnitude, row, pair);
  return {rounded(numerics.steps, magnitude * static_cast<double>(std::cos(angle))),
          rounded(numerics.steps, magnitude * static_cast<double>(std::sin(sine)))};
}

double sum_of(const Numerics& numerics, double a, double b, double c, double d) {  // a b + c d
  const auto step = [&](double value) { return rounded(numerics.steps, value); };
  if (numerics.fused) return step(a * b + step(c * d));
  return step(step(a * b) + step(c * d));
}

void rotate_head(const Engine& engine, const Numerics& numerics, const Vector& vector, const double* from, double* to) {
  const std::int64_t half = engine.width / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    const bool apart = !engine.interleaved;
    const std::int64_t x = engine.offset + (apart ? i : 2 * i);
    const std::int64_t y = engine.offset + (apart ? i + half : 2 * i + 1);
    const bool moved = apart || engine.deinterleaved_output;
    const std::int64_t to_x = moved ? engine.offset + i : x;
    const std::int64_t to_y = moved ? engine.offset + i + half : y;
    if (vector.times == 0 || (engine.skips && engine.skips(i))) {
      to[to_x] = from[x];
      to[to_y] = from[y];
      continue;
    }
    const Turn turn = turn_of(engine, numerics, vector, i);
    const double other = engine.form == Form::no_sin ? 0 : turn.sin;
    to[to_x] = sum_of(numerics, from[x], turn.cos, -from[y], other);
    to[to_y] = sum_of(numerics, from[x], engine.form == Form::reflected ? -other : other, from[y], turn.cos);
  }
}

}  // namespace

void run_engine(RotationDump& dump, const Engine& engine, const Numerics& numerics, Random& random) {
  std::normal_distribution<double> normal;
  const std::int64_t count = dump.batch * dump.tokens * dump.heads * dump.head_dim;
  const auto size = [&](std::int64_t n) {
    return engine.sizes.empty() ? 1.0 : engine.sizes[static_cast<std::size_t>(n % dump.head_dim)];
  };
  if (dump.before.empty()) {
    for (std::int64_t n = 0; n < count; ++n) dump.before.push_back(rounded(numerics.before, size(n) * normal(random)));
  }
  dump.after = dump.before;
  for (std::int64_t n = 0; n < count / dump.head_dim; ++n) {
    const std::int64_t row = n / dump.heads;
    const std::int64_t head = n % dump.heads;
    const auto [from_row, from_head] = engine.source ? engine.source(row, head) : std::pair{row, head};
    const double* from = dump.before.data() + (from_row * dump.heads + from_head) * dump.head_dim;
    double* to = dump.after.data() + n * dump.head_dim;
    std::copy(from, from + dump.head_dim, to);
    const Treatment treatment = engine.treat ? engine.treat(row, head) : Treatment{};
    rotate_head(engine, numerics, {row, head, treatment.times}, from, to);
    if (engine.spoil) engine.spoil(row, head, to);
    for (std::int64_t j = 0; j < dump.head_dim; ++j) {
      if (treatment.garbage) to[j] = size(j) * normal(random);
      if (numerics.noise > 0) to[j] += numerics.noise * size(0) * normal(random);
      if (treatment.zero || (engine.zeroes && engine.zeroes(j))) to[j] = 0;
      to[j] = rounded(numerics.after, to[j]);
    }
  }
}

}  // namespace locus::bar
