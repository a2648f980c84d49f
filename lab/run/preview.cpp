// SPDX-License-Identifier: Apache-2.0
#include "run/preview.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include "results/units.h"
#include "run/clock.h"
#include "run/spec.h"
#include "run/text_table.h"

namespace locus::lab {
namespace {

double seconds_of(const TrialSpec& spec, const Parts& parts) {
  const double begin = now();
  parts.run_trial(spec, [](double) {}, {});
  return now() - begin;
}

/// Estimates a trial from two short ones: testing takes the same time in both, training is proportional to the steps.
double try_out(const TrialSpec& spec, const Parts& parts) {
  constexpr std::int64_t few = 2, more = 8;
  TrialSpec brief = spec;
  brief.tune_steps = std::min<std::int64_t>(spec.tune_steps, 1);
  brief.steps = few;
  const double first = seconds_of(brief, parts);
  brief.steps = more;
  const double second = seconds_of(brief, parts);
  const double step = std::max(second - first, 0.0) / static_cast<double>(more - few);
  const auto tuned = [&](const std::string& line) { return line.ends_with("+tuned"); };
  const std::vector<std::string> lines = parts.lines_of(spec);
  const auto tunes = std::count_if(lines.begin(), lines.end(), tuned) * spec.tune_steps;
  return std::min(first, second) + step * static_cast<double>(spec.steps + tunes);
}

}  // namespace

Guess known_times(const std::vector<StoredTrial>& finished) {
  Guess guess;
  for (const StoredTrial& trial : finished) guess.timing.add(trial.spec, trial.seconds);
  if (!finished.empty()) guess.source = "the trials in the store";
  return guess;
}

Guess measured_times(const Plan& plan, const std::vector<StoredTrial>& finished, const Parts& parts) {
  Guess guess = known_times(finished);
  const Timing before = guess.timing;
  int tried = 0;
  for (const std::string& task : plan.tasks) {
    if (before.knows_task(task)) continue;
    // The time depends on the number of tested lines: one scheme of each number represents the others.
    std::set<std::size_t> kinds;
    for (const TrialSpec& spec : plan.trials) {
      if (spec.task != task || !kinds.insert(parts.lines_of(spec).size()).second) continue;
      guess.timing.add(spec, try_out(spec, parts));
      ++tried;
    }
  }
  if (tried == 0) return guess;
  guess.source = finished.empty() ? "a few steps of each task"
                                  : "the trials in the store, and a few steps of each task without any";
  return guess;
}

Json preview(const Plan& plan, const std::vector<StoredTrial>& finished, const Guess& guess, const Parts& parts,
             int workers) {
  std::set<std::string> done;
  for (const StoredTrial& trial : finished) done.insert(trial.key);
  Json trials = Json::array();
  std::optional<double> seconds = 0;
  for (const TrialSpec& spec : plan.trials) {
    const bool is_done = done.contains(key_of(spec));
    if (!is_done && seconds) {
      const std::optional<double> own = guess.timing.seconds(spec);
      seconds = own ? std::optional(*seconds + *own) : std::nullopt;
    }
    trials.push_back({{"task", spec.task},
                      {"scheme", spec.scheme},
                      {"seed", spec.seed},
                      {"train_length", spec.trained_length},
                      {"lengths", spec.lengths},
                      {"steps", spec.steps},
                      {"lines", parts.lines_of(spec)},
                      {"done", is_done}});
  }
  return {{"preset", plan.preset},
          {"seeds", plan.seeds},
          {"workers", workers},
          {"seconds", seconds ? Json(*seconds / workers) : Json()},
          {"estimated_from", guess.source.empty() ? Json() : Json(guess.source)},
          {"trials", trials}};
}

std::string preview_text(const Json& preview) {
  std::ostringstream text;
  TextTable table;
  table.add({"task", "scheme", "seeds", "done", "length", "steps", "tested at", "lines"});
  std::int64_t done = 0;
  const Json& trials = preview.at("trials");
  std::set<std::pair<std::string, std::string>> shown;
  for (const Json& trial : trials) {
    done += trial.at("done").get<bool>() ? 1 : 0;
    if (!shown.emplace(trial.at("task").get<std::string>(), trial.at("scheme").get<std::string>()).second) continue;
    std::int64_t own = 0, own_done = 0;
    for (const Json& other : trials) {
      if (other.at("task") != trial.at("task") || other.at("scheme") != trial.at("scheme")) continue;
      ++own;
      own_done += other.at("done").get<bool>() ? 1 : 0;
    }
    const std::string lengths = joined(trial.at("lengths"), " ");
    const std::string lines = joined(trial.at("lines").get<std::vector<std::string>>(), " ");
    table.add({trial.at("task"), trial.at("scheme"), std::to_string(own), std::to_string(own_done),
               trial.at("train_length").dump(), trial.at("steps").dump(), lengths, lines});
  }
  text << table.text(8) << trials.size() << " trials, " << done << " of them done; ";
  if (preview.at("seconds").is_null()) {
    text << "how long the others take is not known yet: --measure trains a few steps of each task to estimate it\n";
    return text.str();
  }
  text << "about " << results::duration(std::ceil(preview.at("seconds").get<double>())) << " with "
       << preview.at("workers") << " workers";
  if (const Json& source = preview.at("estimated_from"); source.is_string()) {
    text << " (from " << source.get<std::string>() << ')';
  }
  text << '\n';
  return text.str();
}

}  // namespace locus::lab
