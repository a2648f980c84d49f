// SPDX-License-Identifier: Apache-2.0
// Explains measured angles by an encoding and a position per token, without an expectation.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/diagnose/turn_rates.h"

namespace locus::doctor {

/// The input of the search.
struct AngleSearch {
  std::int64_t tokens = 0;  ///< per batch row
  std::int64_t head_dim = 0;
  double unit = 0;                    ///< roundoff of the storage type
  std::vector<Position> guess = {};   ///< [rows]: likely positions
  std::vector<Position> placed = {};  ///< [rows]: the positions that the measured rates imply; set by explain
  std::optional<double> base = {};    ///< tried in addition to the common ones
};

/// Returns all explanations that fit the angles, simplest first.
std::vector<Explanation> explain(const Turning& turning, const std::optional<TurnRates>& rates,
                                 const AngleSearch& search);

/// Lists runs of consecutive positions: "0 ... 31", "5 ... 36", "all 0", "0 ... 9, 0 ... 21".
std::string describe_positions(const std::vector<Position>& positions);

/// Returns the arguments of a rope that rotates this slice.
Arguments slice_arguments(const TurnedSlice& slice, std::int64_t head_dim);

}  // namespace locus::doctor
