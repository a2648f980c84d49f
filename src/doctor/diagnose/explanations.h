// SPDX-License-Identifier: Apache-2.0
// From angles to explanations: an encoding and a position per token, without knowing what was meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/diagnose/turn_rates.h"

namespace locus::doctor {

/// What the search is told.
struct AngleSearch {
  std::int64_t tokens = 0;  ///< per batch row
  std::int64_t head_dim = 0;
  double unit = 0;                    ///< of the storage
  std::vector<Position> guess = {};   ///< [rows]: where tokens are likely to be
  std::vector<Position> placed = {};  ///< [rows]: where the measured rates put them; set by explain
  std::optional<double> base = {};    ///< worth trying beside the common ones
};

/// All explanations that fit the angles, simplest first.
std::vector<Explanation> explain(const Turning& turning, const std::optional<TurnRates>& rates,
                                 const AngleSearch& search);

/// "0 ... 31", "5 ... 36", "all 0", "0 ... 9, 0 ... 21": runs of consecutive positions.
std::string describe_positions(const std::vector<Position>& positions);

/// The arguments that make a rope turn this slice.
Arguments slice_arguments(const TurnedSlice& slice, std::int64_t head_dim);

}  // namespace locus::doctor
