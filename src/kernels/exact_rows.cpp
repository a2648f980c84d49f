// SPDX-License-Identifier: Apache-2.0
#include "kernels/exact_rows.h"

#include <algorithm>

namespace locus {
namespace {

// [cos | sin] of one position in double.
void fill_row(std::span<const Turns> turns, Position position, double magnitude, std::vector<std::uint64_t>& phases,
              double* row) {
  phases.resize(turns.size());
  for (std::size_t i = 0; i < turns.size(); ++i) phases[i] = turns[i] * static_cast<std::uint64_t>(position);
  phases_to_cos_sin(phases.data(), turns.size(), magnitude, row, row + turns.size());
}

}  // namespace

StepRows::StepRows(std::vector<Turns> turns)
    : turns_(std::move(turns)), rows_(2 * turns_.size() * static_cast<std::size_t>(steps_per_anchor)) {
  std::vector<std::uint64_t> phases;
  for (Position step = 0; step < steps_per_anchor; ++step) {
    fill_row(turns_, step, 1.0, phases, rows_.data() + 2 * width() * static_cast<std::size_t>(step));
  }
}

ExactRows::ExactRows(const StepRows& steps, double magnitude)
    : steps_(steps), magnitude_(magnitude), anchor_row_(2 * steps.width()) {}

void ExactRows::set_anchor(Position anchor) {
  if (has_anchor_ && anchor == anchor_) return;
  fill_row(steps_.turns(), anchor, magnitude_, phases_, anchor_row_.data());
  anchor_ = anchor;
  has_anchor_ = true;
}

void ExactRows::rows(Position first, std::int64_t count, float* out, std::size_t stride) {
  while (count > 0) {
    set_anchor(anchor_of(first));
    const std::int64_t here = std::min<std::int64_t>(count, steps_per_anchor - step_of(first));
    combine_rows(anchor_row_.data(), steps_.row(step_of(first)), steps_.width(), static_cast<std::size_t>(here), out,
                 out + steps_.width(), stride);
    first += here;
    count -= here;
    out += static_cast<std::size_t>(here) * stride;
  }
}

void ExactRows::row(Position position, float* cos, float* sin) {
  set_anchor(anchor_of(position));
  combine_rows(anchor_row_.data(), steps_.row(step_of(position)), steps_.width(), 1, cos, sin, 0);
}

void exact_row(std::span<const Turns> turns, double magnitude, Position position, float* cos, float* sin) {
  const std::size_t width = turns.size();
  std::vector<std::uint64_t> phases;
  std::vector<double> rows(4 * width);
  fill_row(turns, anchor_of(position), magnitude, phases, rows.data());
  fill_row(turns, step_of(position), 1.0, phases, rows.data() + 2 * width);
  combine_rows(rows.data(), rows.data() + 2 * width, width, 1, cos, sin, 0);
}

}  // namespace locus
