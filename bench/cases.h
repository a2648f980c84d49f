// SPDX-License-Identifier: Apache-2.0
// The cases of `locus bench`, by group.
#pragma once

#include "case.h"

namespace locus::bench {

/// `quick` omits the array that is larger than any L3 cache, where 256 MB is not.
std::vector<PlannedCase> plan_rotate_cases(bool quick);
std::vector<PlannedCase> plan_add_cases();
std::vector<PlannedCase> plan_table_cases();
/// `quick` omits the longest sequences.
std::vector<PlannedCase> plan_attention_cases(bool quick);
/// Attention with every form of encoding against plain attention.
std::vector<PlannedCase> plan_form_cases();
/// `quick` has fewer and shorter sequences.
std::vector<PlannedCase> plan_cache_cases(bool quick);
std::vector<PlannedCase> plan_probe_cases();
/// Every kernel on each SIMD target against the next narrower one; none if there is only one target.
std::vector<PlannedCase> plan_target_cases();

/// Returns the names of the groups, in the order in which they run.
const std::vector<std::string>& group_names();

struct Plan {
  std::vector<std::string> groups = group_names();
  bool quick = false;
  std::string containing = {};  ///< only cases whose name contains this
  Pairs pairs = {};             ///< its `progress` is replaced
};

struct Listener {
  std::function<void(const Case&)> done;                                   ///< a case is done
  std::function<void(double cases_done, std::size_t cases_all)> progress;  ///< also within a case; may throw to stop
};

/// Measures the cases of the plan.
void run(const Plan& plan, const Listener& listener);

}  // namespace locus::bench
