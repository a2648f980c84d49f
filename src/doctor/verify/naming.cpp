// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/naming.h"

#include <algorithm>
#include <sstream>

#include "doctor/faults.h"

namespace locus::doctor {

std::string text_of(const FaultModel& model) {
  const std::string name(find_fault(model.fault).name);
  return model.detail.empty() ? name : name + " (" + model.detail + ")";
}

std::string likely_cause(const std::vector<FaultModel>& models, const std::vector<Check>& checks,
                         const std::function<bool(const FaultModel&)>& matches) {
  for (const FaultModel& model : models) {
    if (matches(model)) return text_of(model);
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
