// SPDX-License-Identifier: Apache-2.0
// The lines of `locus bench`: what is measured, against which limit, with which bar.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure.h"

namespace locus::bench {

struct Line {
  std::string group;  ///< rotate, add, tables
  std::string name;   ///< e.g. "half float32 256 KB"
  std::string limit;  ///< what the share is a share of
  Comparison result;
  std::optional<double> bar;
  double bytes = 0;  ///< read and written by one call, for GB/s

  /// "ok", "missed", "noisy", "limit wrong" or "" where there is no bar.
  std::string verdict() const;
};

struct Plan {
  bool rotate = true;
  bool add = true;
  bool tables = true;
  int rounds = 41;
  double round_seconds = 0.02;
};

/// Measures line by line; `report` hears of each as it is done, with how many there will be.
std::vector<Line> run(const Plan& plan,
                      const std::function<void(const Line&, std::size_t done, std::size_t all)>& report);

}  // namespace locus::bench
