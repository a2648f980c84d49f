// SPDX-License-Identifier: Apache-2.0
// How long trials take, guessed from those that are done.
#pragma once

#include <optional>
#include <vector>

#include "run/store.h"

namespace locus::lab {

/// Seconds per trial from finished ones: of the same task and scheme if there are any, else of the same task, else of
/// any, scaled by the number of tokens that are trained on.
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

/// How long the trials that are not done will take together; none where nothing is known yet. Those at work count by
/// what they say is done.
std::optional<double> work_left(const std::vector<StoredTrial>& trials, const Timing& timing);

}  // namespace locus::lab
