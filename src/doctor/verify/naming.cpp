// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/naming.h"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "doctor/faults.h"

namespace locus::doctor {

std::string text_of(const FaultModel& model) {
  const std::string name(find_fault(model.fault).name);
  std::string more = model.detail;
  if (model.when != nullptr && !model.when->text.empty()) {
    more += (more.empty() ? "" : ", ") + std::string(model.when->text);
  }
  return more.empty() ? name : name + " (" + more + ")";
}

std::string likely_cause(const std::vector<FaultModel>& models, const std::vector<Check>& checks,
                         const Evidence& evidence) {
  std::vector<FaultModel> left;
  std::copy_if(models.begin(), models.end(), std::back_inserter(left), evidence.matches_first);
  for (const Condition& condition : conditions()) {
    if (!evidence.possible(condition)) continue;
    for (FaultModel& model : left) {
      model.when = &condition;
      if (evidence.matches(model)) return text_of(model);
    }
  }
  constexpr int most = 6;
  std::ostringstream text;
  text << "none of the known faults gives these numbers; off are ";
  int listed = 0;
  for (const Check& check : checks) {
    if (check.pass || ++listed > most) continue;
    text << (listed == 1 ? "" : ", ") << '"' << check.name << "\" by " << check.value << " (bound " << check.bound
         << ")";
  }
  if (listed > most) text << " and " << listed - most << " more";
  text << ", of " << checks.size() << " checks";
  return text.str();
}

}  // namespace locus::doctor
