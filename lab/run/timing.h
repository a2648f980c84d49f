// SPDX-License-Identifier: Apache-2.0
// How long trials take, estimated from finished ones.
#pragma once

#include <optional>
#include <vector>

#include "run/store.h"

namespace locus::lab {

/// Seconds per trial from finished ones: of the same task and scheme if there are any, else of the same task, else of
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

/// Work time that the trials need that have not ended; absent if nothing is known yet. Running trials count by the
/// share they report as done.
std::optional<double> work_left(const std::vector<StoredTrial>& trials, const Timing& timing);

}  // namespace locus::lab
