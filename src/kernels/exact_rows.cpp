// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_rows.h"

#include <algorithm>

namespace locus {
namespace {

// [cos | sin] of one position in double. `start` may be empty.
void fill_row(std::span<const Turns> turns, std::span<const Turns> start, Position position, double magnitude,
              std::vector<std::uint64_t>& phases, double* row) {
  phases.resize(turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) phases[i] = turns[i] * static_cast<std::uint64_t>(position);
  for (std::size_t i = 0; i < start.size(); ++i) phases[i] += start[i];
  phases_to_cos_sin(phases.data(), turns.size(), magnitude, row, row + turns.size());
}

// One row rotated by another, in double.
void turn_row(const double* row, const double* by, std::size_t width, double* out) {
  for (std::size_t i = 0; i < width; ++i) {
    const double cos = row[i] * by[i] - row[width + i] * by[width + i];
    const double sin = row[width + i] * by[i] + row[i] * by[width + i];
    out[i] = cos;
    out[width + i] = sin;
  }
}

constexpr Position fine_steps = steps_per_anchor;
constexpr Position far_steps = steps_per_far_anchor / steps_per_anchor;

}  // namespace

StepRows::StepRows(std::vector<Turns> turns, std::vector<Turns> start)
    : turns_(std::move(turns)),
      start_(std::move(start)),
      rows_(2 * turns_.size() * static_cast<std::size_t>(fine_steps + far_steps)) {
  std::vector<std::uint64_t> phases;
  const auto fill = [&](Position position, Position at) {
    fill_row(turns_, {}, position, 1.0, phases, rows_.data() + 2 * width() * static_cast<std::size_t>(at));
  };
  for (Position step = 0; step < fine_steps; ++step) fill(step, step);
  for (Position step = 0; step < far_steps; ++step) fill(step * steps_per_anchor, fine_steps + step);
}

ExactRows::ExactRows(const StepRows& steps, double magnitude)
    : steps_(steps), magnitude_(magnitude), far_row_(2 * steps.width()), anchor_row_(2 * steps.width()) {}

void ExactRows::set_magnitude(double magnitude) {
  if (magnitude == magnitude_) return;
  magnitude_ = magnitude;
  has_anchor_ = false;
}

void ExactRows::set_anchor(Position anchor) {
  if (has_anchor_ && anchor == anchor_) return;
  const Position far = far_anchor_of(anchor);
  if (!has_anchor_ || far != far_anchor_of(anchor_)) {
    fill_row(steps_.turns(), steps_.start(), far, magnitude_, phases_, far_row_.data());
  }
  turn_row(far_row_.data(), steps_.far_row(anchor - far), steps_.width(), anchor_row_.data());
  anchor_ = anchor;
  has_anchor_ = true;
}

void ExactRows::rows(Position first, std::int64_t count, float* out, std::size_t stride) {
  while (count > 0) {
    set_anchor(anchor_of(first));
    const std::int64_t here = std::min<std::int64_t>(count, steps_per_anchor - step_of(first));
    combine_rows({.anchor = anchor_row_.data(),
                  .steps = steps_.row(step_of(first)),
                  .width = steps_.width(),
                  .rows = static_cast<std::size_t>(here),
                  .cos = out,
                  .sin = out + steps_.width(),
                  .stride = stride});
    first += here;
    count -= here;
    out += static_cast<std::size_t>(here) * stride;
  }
}

void ExactRows::row(Position position, float* cos, float* sin) {
  set_anchor(anchor_of(position));
  combine_rows({.anchor = anchor_row_.data(),
                .steps = steps_.row(step_of(position)),
                .width = steps_.width(),
                .cos = cos,
                .sin = sin});
}

std::vector<Turns> start_of(const Rotation& rotation) {
  std::vector<Turns> start;
  for (const Phase& phase : rotation.phases) start.push_back(phase.turns);
  return start;
}

void exact_anchor(const Rotation& rotation, double magnitude, Position anchor, double* row) {
  const std::span<const Turns> turns = rotation.turns;
  const std::size_t width = turns.size();
  std::vector<std::uint64_t> phases;
  std::vector<double> rows(4 * width);
  double* far = rows.data();
  double* far_step = far + 2 * width;
  fill_row(turns, start_of(rotation), far_anchor_of(anchor), magnitude, phases, far);
  fill_row(turns, {}, anchor - far_anchor_of(anchor), 1.0, phases, far_step);
  turn_row(far, far_step, width, row);
}

void exact_row(const Rotation& rotation, double magnitude, Position position, float* cos, float* sin) {
  const std::size_t width = rotation.turns.size();
  std::vector<std::uint64_t> phases;
  std::vector<double> rows(4 * width);
  double* anchor = rows.data();
  double* step = anchor + 2 * width;
  exact_anchor(rotation, magnitude, anchor_of(position), anchor);
  fill_row(rotation.turns, {}, step_of(position), 1.0, phases, step);
  combine_rows({.anchor = anchor, .steps = step, .width = width, .cos = cos, .sin = sin});
}

}  // namespace locus
