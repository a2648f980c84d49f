// SPDX-License-Identifier: Apache-2.0
// Rows for the hidden site, one after another.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/exact_rows.h"
#include "locus/site.h"

namespace locus {

/// How a row of waves is put together: made once for an encoding.
struct HiddenPlan {
  explicit HiddenPlan(const HiddenRows& hidden);

  /// Columns that stand in the row as they stand among the values.
  struct Run {
    std::size_t column;
    std::size_t value;
    std::size_t length;
  };
  std::size_t axes = 1;
  bool alternating = false;       ///< sin, cos, sin, cos, ..: no runs then
  std::vector<Run> runs;          ///< values are [cos | sin] per axis, then one 0 for silent columns
  std::optional<StepRows> steps;  ///< of the distinct frequencies; absent for a table
};

/// Makes the float32 rows; cheap for consecutive positions, and the same bits for any order. One per thread.
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
