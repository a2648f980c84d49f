// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/predicted_turns.h"

#include <algorithm>
#include <cmath>

#include "doctor/diagnose/turn_rates.h"
#include "locus/rows.h"

namespace locus::doctor {
namespace {

double cast_to(ElementType type, double value) {
  if (type == ElementType::bfloat16) return static_cast<double>(to_float(to_bfloat16(value)));
  if (type == ElementType::float16) return static_cast<double>(to_float(to_float16(value)));
  return static_cast<double>(static_cast<float>(value));
}

}  // namespace

std::vector<Complex> rows_of(const Rotation& rotation, Role role, const PositionIds& ids, std::int64_t rows) {
  std::vector<double> cos(static_cast<std::size_t>(rotation.pairs()));
  std::vector<double> sin(cos.size());
  std::vector<Position> place(static_cast<std::size_t>(ids.axes));
  std::vector<Complex> z;
  const std::int64_t count = ids.batch * ids.tokens;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t axis = 0; axis < ids.axes; ++axis) {
      place[static_cast<std::size_t>(axis)] = ids.axis(axis)[static_cast<std::size_t>(row % count)];
    }
    rotation_row(rotation, role, place, std::span<double>(cos), std::span<double>(sin));
    for (std::size_t i = 0; i < cos.size(); ++i) z.emplace_back(cos[i], sin[i]);
  }
  return z;
}

std::vector<Complex> cast_turns(const std::vector<double>& w, const std::vector<Position>& positions, ElementType type,
                                EarlyCast cast) {
  std::vector<Complex> z;
  for (const Position id : positions) {
    for (const double frequency : w) {
      const auto p = static_cast<double>(id);
      double angle = p * frequency;
      if (cast == EarlyCast::frequencies) angle = p * cast_to(type, frequency);
      if (cast == EarlyCast::positions) angle = cast_to(type, p) * frequency;
      if (cast == EarlyCast::angles) angle = cast_to(type, angle);
      z.push_back(std::polar(1.0, wrapped(angle)));
    }
  }
  return z;
}

}  // namespace locus::doctor
