// SPDX-License-Identifier: Apache-2.0
// One line of `locus bench`: a thing, its limit, the bar, and what can be said.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure.h"

namespace locus::bench {

/// Memory that a call took beyond its inputs and outputs, and how much it may take.
struct ExtraMemory {
  double bytes = 0;
  double allowed = 0;
};

struct Line {
  std::string group;  ///< rotate, add, tables, attention, probe
  std::string name;   ///< e.g. "half float32 256 KB"
  std::string limit;  ///< what the share is a share of
  Comparison result = {};
  std::optional<double> bar = {};
  bool beatable = false;  ///< "limit" is only something to compare with: a ratio above 1 is no mistake
  double amount = 0;      ///< bytes moved or operations done by one call, 0 where a rate would say nothing
  std::string unit = "GB/s";
  std::optional<ExtraMemory> extra_memory = {};

  /// "ok", "missed", "noisy" or "the limit is measured wrongly"; without a bar only the latter two, or "".
  std::string verdict() const;
};

/// A line that is still to be measured.
struct Task {
  std::string group;
  std::string name;
  std::function<Line(const Pairs&)> measure;  ///< fills all but group and name
};

}  // namespace locus::bench
