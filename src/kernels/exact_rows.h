// SPDX-License-Identifier: Apache-2.0
// Rows of cosines and sines at whole positions, consecutive or not.
#pragma once

#include <span>
#include <vector>

#include "kernels/rows_simd.h"
#include "locus/site.h"

namespace locus {

/// The rows of positions 0 .. 31 and 0, 32 .. 992 in double. Computed once for an encoding, shared by all threads.
class StepRows {
 public:
  /// `start` has the angles of position 0, one per frequency; empty: all 0.
  explicit StepRows(std::vector<Turns> turns, std::vector<Turns> start = {});

  std::span<const Turns> turns() const { return turns_; }
  std::span<const Turns> start() const { return start_; }
  std::size_t width() const { return turns_.size(); }
  /// [cos | sin] of step 0 .. 31, one after another.
  const double* row(Position step) const { return rows_.data() + 2 * width() * static_cast<std::size_t>(step); }
  /// [cos | sin] of a multiple of 32 below 1024.
  const double* far_row(Position step) const { return row(steps_per_anchor + step / steps_per_anchor); }

 private:
  std::vector<Turns> turns_;
  std::vector<Turns> start_;
  std::vector<double> rows_;
};

/// Computes float32 rows. The row of position p = 1024 a + 32 b + c is the row of 1024 a rotated by those of 32 b and
/// c. The last two anchors are kept, so consecutive positions cost one complex product per pair; scattered ones also
/// cost a polynomial. The bits are the same either way. One object per thread.
class ExactRows {
 public:
  ExactRows(const StepRows& steps, double magnitude);

  void set_magnitude(double magnitude);
  /// Rows [cos | sin] of `first`, `first` + 1, ..., each `stride` floats after the last.
  void rows(Position first, std::int64_t count, float* out, std::size_t stride);
  /// One row, with separate cos and sin.
  void row(Position position, float* cos, float* sin);

 private:
  void set_anchor(Position anchor);

  const StepRows& steps_;
  double magnitude_;
  bool has_anchor_ = false;
  Position anchor_ = 0;
  std::vector<std::uint64_t> phases_;
  std::vector<double> far_row_;     // [cos | sin] of the multiple of 1024 below
  std::vector<double> anchor_row_;  // [cos | sin] of the multiple of 32 below
};

/// The angles of position 0 that StepRows takes.
std::vector<Turns> start_of(const Rotation& rotation);

/// The row [cos | sin] of a multiple of 32 in double, of which ExactRows makes those of the 32 positions from it on.
void exact_anchor(const Rotation& rotation, double magnitude, Position anchor, double* row);

/// One row without the table of steps; the same bits.
void exact_row(const Rotation& rotation, double magnitude, Position position, float* cos, float* sin);

}  // namespace locus
