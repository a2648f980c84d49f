// SPDX-License-Identifier: Apache-2.0
#include "cases.h"

#include <algorithm>

#include "locus/error.h"

namespace locus::bench {
namespace {

std::vector<PlannedCase> plan_cases(const std::string& group, bool quick) {
  if (group == "rotate") return plan_rotate_cases(quick);
  if (group == "add") return plan_add_cases();
  if (group == "tables") return plan_table_cases();
  if (group == "attention") return plan_attention_cases(quick);
  if (group == "forms") return plan_form_cases();
  if (group == "cache") return plan_cache_cases(quick);
  if (group == "targets") return plan_target_cases();
  return plan_probe_cases();
}

}  // namespace

const std::vector<std::string>& group_names() {
  static const std::vector<std::string> names = {"rotate", "add",   "tables", "attention",
                                                 "forms",  "cache", "probe",  "targets"};
  return names;
}

void run(const Plan& plan, const Listener& listener) {
  std::vector<PlannedCase> cases;
  for (const std::string& group : group_names()) {
    if (std::find(plan.groups.begin(), plan.groups.end(), group) == plan.groups.end()) continue;
    for (PlannedCase& planned : plan_cases(group, plan.quick)) {
      if (planned.name.find(plan.containing) != std::string::npos) cases.push_back(std::move(planned));
    }
  }
  require(!cases.empty(), "no case has '", plan.containing, "' in its name");
  for (std::size_t done = 0; done < cases.size(); ++done) {
    Pairs pairs = plan.pairs;
    pairs.progress = [&](double part) { listener.progress(static_cast<double>(done) + part, cases.size()); };
    pairs.progress(0);
    Case measured = cases[done].measure(pairs);
    measured.group = cases[done].group;
    measured.name = cases[done].name;
    listener.done(measured);
  }
}

}  // namespace locus::bench
