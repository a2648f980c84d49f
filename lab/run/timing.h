// SPDX-License-Identifier: Apache-2.0
// Estimates the time of trials from finished ones.
#pragma once

#include <optional>
#include <vector>

#include "run/store.h"

namespace locus::lab {

/// Estimates seconds per trial from finished trials of the same task and scheme, or else of the same task, or else of
/// any, scaled by training_work().
class Timing {
 public:
  void add(const TrialSpec& spec, double seconds);
  std::optional<double> seconds(const TrialSpec& spec) const;
  bool knows_task(const std::string& task) const;

 private:
  struct Known {
    TrialSpec spec;
    double seconds;
  };
  std::vector<Known> known_;
};

/// Returns the work time left; absent if nothing is known yet. Running trials count by the share that they report as
/// done.
std::optional<double> work_left(const std::vector<StoredTrial>& trials, const Timing& timing);

}  // namespace locus::lab
