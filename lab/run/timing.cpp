// SPDX-License-Identifier: Apache-2.0
#include "run/timing.h"

#include <algorithm>

#include "run/plan.h"

namespace locus::lab {
void Timing::add(const TrialSpec& spec, double seconds) { known_.push_back({spec, seconds}); }

bool Timing::knows_task(const std::string& task) const {
  return std::any_of(known_.begin(), known_.end(), [&](const Known& one) { return one.spec.task == task; });
}

std::optional<double> Timing::seconds(const TrialSpec& spec) const {
  int best = 0;  // how similar
  double sum = 0, count = 0;
  for (const Known& one : known_) {
    const bool task = one.spec.task == spec.task;
    const int alike = task && one.spec.scheme == spec.scheme ? 3 : task ? 2 : 1;
    if (alike > best) sum = count = 0;
    best = std::max(best, alike);
    if (alike < best) continue;
    sum += one.seconds * training_work(spec) / std::max(training_work(one.spec), 1.0);
    ++count;
  }
  if (best == 0) return {};
  return sum / count;
}

std::optional<double> work_left(const std::vector<StoredTrial>& trials, const Timing& timing) {
  double left = 0;
  for (const StoredTrial& trial : trials) {
    if (trial.state == TrialState::finished || trial.state == TrialState::failed) continue;
    const double spent = trial.heartbeat - trial.started;
    const std::optional<double> whole = timing.seconds(trial.spec);
    if (trial.state == TrialState::leased && trial.done > 0.1) {
      left += spent / trial.done * (1 - trial.done);
    } else if (whole) {
      left += *whole;
    } else {
      return {};
    }
  }
  return left;
}

}  // namespace locus::lab
