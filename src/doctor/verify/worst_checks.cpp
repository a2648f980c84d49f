// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/worst_checks.h"

#include <algorithm>
#include <cmath>

namespace locus::doctor {

void WorstChecks::at_most(const std::string& name, double value, double bound, std::string note) {
  keep(locus::at_most(name, scheme_, value, bound, std::move(note)), value == 0 ? 0 : value / bound);
}

void WorstChecks::at_least(const std::string& name, double value, double bound, std::string note) {
  keep(locus::at_least(name, scheme_, value, bound, std::move(note)), bound / value);
}

void WorstChecks::keep(Check check, double share) {
  const auto same = std::find_if(checks_.begin(), checks_.end(), [&](const Check& c) { return c.name == check.name; });
  if (same == checks_.end()) {
    checks_.push_back(std::move(check));
    shares_.push_back(share);
    return;
  }
  double& kept = shares_[static_cast<std::size_t>(same - checks_.begin())];
  const bool worse = same->pass != check.pass ? same->pass : !(share <= kept) && !std::isnan(kept);
  if (!worse) return;
  kept = share;
  *same = std::move(check);
}

}  // namespace locus::doctor
