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

/// Returns the title of a scheme, a rule or a change of either; arguments stay as typed.
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

results::Task describe_task(const TaskDescription& task, const TrialSpec& spec) {
  const bool loss = task.metric == Metric::loss;
  return {.name = task.name,
          .title = task.title,
          .measures = task.measures,
          .main = task.main,
          .is_loss = loss,
          .higher_is_better = !loss,
          .chance = task.chance,
          .majority = task.majority,
          .learned_at = task.learned_at,
          .trained_length = spec.trained_length,
          .lengths = spec.lengths,
          .steps = spec.steps,
          .tune_steps = spec.tune_steps,
          .batch = spec.batch,
          .learning_rate = spec.learning_rate,
          .layers = spec.model.layers,
          .heads = spec.model.heads,
          .width = spec.model.width,
          .lines = {}};
}

}  // namespace

results::Line describe_line(const std::string& name) {
  std::vector<std::string> parts;
  std::istringstream stream(name);
  for (std::string part; std::getline(stream, part, '+');) parts.push_back(part);
  require(!parts.empty(), "a line of results has no name");
  results::Line line{.name = name,
                     .trained = parts.front(),
                     .label = title_of(parts.front()),
                     .site = {},
                     .variant = {},
                     .tuned = parts.size() > 1 && parts.back() == "tuned"};
  for (std::size_t i = 1; i < parts.size(); ++i) {
    line.label += " + " + title_of(parts[i]);
    if (i + 1 < parts.size() || !line.tuned) line.variant += (line.variant.empty() ? "" : "+") + parts[i];
  }
  line.site = name_of(find_scheme(line.trained.substr(0, line.trained.find(':'))).site);
  return line;
}

results::Results make_header(const Plan& plan, const Parts& parts, const std::string& baseline) {
  results::Results header;
  results::Run& run = header.run;
  run.preset = plan.preset;
  run.seeds = plan.seeds;
  run.baseline = baseline;
  run.planned = static_cast<std::int64_t>(plan.trials.size());
  run.machine = machine();
  run.versions = versions();
  run.versions.insert(run.versions.end(), parts.versions.begin(), parts.versions.end());
  std::vector<std::string> known;
  for (const std::string& name : plan.tasks) {
    results::Task* task = nullptr;
    for (const TrialSpec& spec : plan.trials) {
      if (spec.task != name || spec.seed != plan.seeds.front()) continue;
      if (task == nullptr) {
        task = &header.tasks.emplace_back(describe_task(parts.describe(spec.task, spec.text_file), spec));
      }
      for (const std::string& line : parts.lines_of(spec)) {
        task->lines.push_back(line);
        if (std::find(known.begin(), known.end(), line) != known.end()) continue;
        known.push_back(line);
        header.lines.push_back(describe_line(line));
      }
    }
  }
  const bool is_default = baseline == "rope";  // may be absent unless it was requested
  require(is_default || std::find(known.begin(), known.end(), baseline) != known.end(), "--baseline ", baseline,
          " is not a line of this run");
  return header;
}

}  // namespace locus::lab
