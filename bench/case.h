// SPDX-License-Identifier: Apache-2.0
// One case of `locus bench`: what was timed, its limit, the bar and the verdict.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure.h"

namespace locus::bench {

/// The memory that a call used beyond its inputs and outputs, and the allowed amount.
struct ExtraMemory {
  double bytes = 0;
  double allowed = 0;
};

struct Case {
  std::string group;  ///< rotate, add, tables, attention, forms, cache, probe, targets
  std::string name;   ///< e.g. "half float32 256 KB"
  std::string limit;  ///< what the share refers to
  Comparison result = {};
  std::optional<double> bar = {};
  bool beatable = false;  ///< the limit is only a comparison: a ratio above 1 is no error
  double amount = 0;      ///< bytes moved or operations done by one call; 0 if a rate has no meaning
  std::string unit = "GB/s";
  double unit_size = 1e9;  ///< how much of the amount is one of the unit
  std::optional<ExtraMemory> extra_memory = {};

  /// "ok", "missed", "noisy" or "the limit is measured wrongly"; without a bar only the latter two, or "".
  std::string verdict() const;
};

/// A case that is still to be measured.
struct PlannedCase {
  std::string group;
  std::string name;
  std::function<Case(const Pairs&)> measure;  ///< sets everything except group and name
};

}  // namespace locus::bench
