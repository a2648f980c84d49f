// SPDX-License-Identifier: Apache-2.0
// Computes rows for the hidden site.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/exact_rows.h"
#include "locus/site.h"

namespace locus {

/// How to assemble a row of waves. Computed once for an encoding.
struct HiddenPlan {
  explicit HiddenPlan(const HiddenRows& hidden);

  /// Columns that are consecutive both in the row and among the values.
  struct Run {
    std::size_t column;
    std::size_t value;
    std::size_t length;
  };
  std::size_t axes = 1;
  bool alternating = false;       ///< sin, cos, sin, cos, ..; then there are no runs
  std::vector<Run> runs;          ///< values are [cos | sin] per axis, then one 0 for silent columns
  std::optional<StepRows> steps;  ///< of the distinct frequencies; absent for a table
};

/// Computes float32 rows. Cheap for consecutive positions; the bits do not depend on the order. One object per
/// thread.
class HiddenRowMaker {
 public:
  HiddenRowMaker(const HiddenRows& hidden, const HiddenPlan& plan);

  void row(Position id, std::span<float> row);

 private:
  const HiddenRows& hidden_;
  const HiddenPlan& plan_;
  std::optional<ExactRows> rows_;
  std::vector<float> values_;
};

}  // namespace locus
