// SPDX-License-Identifier: Apache-2.0
#include "run/header.h"

#include <algorithm>
#include <sstream>

#include "locus/error.h"
#include "locus/registry.h"
#include "locus/scaling.h"
#include "run/machine.h"

namespace locus::lab {
namespace {

/// The title of a scheme, of a rule or of what is done to either; arguments stay as they were typed.
std::string title_of(const std::string& name) {
  const std::size_t colon = std::min(name.find(':'), name.size());
  const std::string word = name.substr(0, colon);
  const auto titled = [&](std::string_view title) { return std::string(title) + name.substr(colon); };
  if (word == "tuned") return titled("fine-tuned");
  for (const Scheme* scheme : schemes()) {
    if (scheme->name == word) return titled(scheme->title);
  }
  for (const Rule* rule : rules()) {
    if (rule->name == word) return titled(rule->title);
  }
  return name;
}

Json describe_task(const TaskDescription& task, const TrialSpec& spec) {
  const bool loss = task.metric == Metric::loss;
  return {{"name", task.name},
          {"title", task.title},
          {"measures", task.measures},
          {"main", task.main},
          {"metric", loss ? "loss" : "accuracy"},
          {"better", loss ? "lower" : "higher"},
          {"chance", task.chance},
          {"majority", task.majority},
          {"learned_at", task.learned_at},
          {"train_length", spec.train_length},
          {"lengths", spec.lengths},
          {"steps", spec.steps},
          {"tune_steps", spec.tune_steps},
          {"batch", spec.batch},
          {"learning_rate", spec.learning_rate},
          {"model", {{"layers", spec.model.layers}, {"heads", spec.model.heads}, {"width", spec.model.width}}}};
}

}  // namespace

Json describe_line(const std::string& name) {
  std::vector<std::string> parts;
  std::istringstream stream(name);
  for (std::string part; std::getline(stream, part, '+');) parts.push_back(part);
  require(!parts.empty(), "a line of results has no name");
  const std::string trained = parts.front();
  const bool tuned = parts.size() > 1 && parts.back() == "tuned";
  std::string label = title_of(trained), variant;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    label += ", " + title_of(parts[i]);
    if (i + 1 < parts.size() || !tuned) variant += (variant.empty() ? "" : "+") + parts[i];
  }
  const Site site = find_scheme(trained.substr(0, trained.find(':'))).site;
  return {{"name", name},       {"trained", trained}, {"label", label}, {"site", std::string(name_of(site))},
          {"variant", variant}, {"tuned", tuned}};
}

Json make_header(const Plan& plan, const Parts& parts, const std::string& baseline) {
  Json header{{"preset", plan.preset}, {"seeds", plan.seeds}, {"baseline", baseline}, {"machine", machine()}};
  header["versions"] = versions();
  header["versions"].update(parts.versions);
  header["speed"] = nullptr;
  header["tasks"] = Json::array();
  header["lines"] = Json::array();
  header["lines_of"] = Json::object();
  std::vector<std::string> known;
  for (const TrialSpec& spec : plan.trials) {
    if (spec.seed != plan.seeds.front()) continue;
    Json& own = header["lines_of"][spec.task];
    if (own.is_null()) header["tasks"].push_back(describe_task(parts.describe(spec.task, spec.text_file), spec));
    for (const std::string& line : parts.lines_of(spec)) {
      own.push_back(line);
      if (std::find(known.begin(), known.end(), line) != known.end()) continue;
      known.push_back(line);
      header["lines"].push_back(describe_line(line));
    }
  }
  const bool usual = baseline == "rope";  // without it there is nothing to compare with, unless it was asked for
  require(usual || std::find(known.begin(), known.end(), baseline) != known.end(), "--baseline ", baseline,
          " is not a line of this run");
  return header;
}

}  // namespace locus::lab
