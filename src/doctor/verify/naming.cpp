// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/naming.h"

#include <algorithm>
#include <map>
#include <sstream>

#include "doctor/faults.h"

namespace locus::doctor {
namespace {

// Caches the answers about one model: a condition that holds does not change them.
class Answers {
 public:
  Answers(const FaultModel& model, const Evidence& evidence) : model_(model), evidence_(evidence) {}

  bool guards(const std::vector<std::size_t>& numbers) {
    return std::all_of(numbers.begin(), numbers.end(), [&](std::size_t number) {
      const auto found = guards_.find(number);
      return found != guards_.end() ? found->second
                                    : guards_.emplace(number, evidence_.matches_guard(model_, number)).first->second;
    });
  }
  bool first() {
    if (!first_) first_ = evidence_.matches_first(model_);
    return *first_;
  }

 private:
  const FaultModel& model_;
  const Evidence& evidence_;
  std::map<std::size_t, bool> guards_;
  std::optional<bool> first_;
};

}  // namespace

std::string text_of(const FaultModel& model) {
  const std::string name(find_fault(model.fault).name);
  std::string more = model.detail;
  if (model.when != nullptr && !model.when->text.empty()) {
    more += (more.empty() ? "" : ", ") + std::string(model.when->text);
  }
  return more.empty() ? name : name + " (" + more + ")";
}

std::optional<FaultModel> likely_model(const Models& models, const Evidence& evidence) {
  std::vector<Answers> answers;
  for (const FaultModel& model : models) answers.emplace_back(model, evidence);
  for (const Condition& condition : conditions()) {
    if (!evidence.possible(condition)) continue;
    const std::vector<std::size_t> guards = evidence.guards(condition);
    for (std::size_t i = 0; i < models.size(); ++i) {
      if (!answers[i].guards(guards) || !answers[i].first()) continue;
      FaultModel model = models[i];
      model.when = &condition;
      if (evidence.matches(model)) return model;
    }
  }
  return {};
}

std::string no_known_fault(const std::vector<Check>& checks) {
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
