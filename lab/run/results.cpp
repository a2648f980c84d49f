// SPDX-License-Identifier: Apache-2.0
#include "run/results.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "locus/error.h"
#include "results/json.h"
#include "run/owner.h"

namespace locus::lab {
namespace {

using results::BySeed;
using results::Results;

using NumberKey = std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>;

Results header_of(const StoredRun& run) {
  require(run.header.contains("run"),
          "an older Locus wrote the last run in the store; give its command again: finished trials are kept");
  return results::read_header(run.header);
}

/// Returns the member of a cost that measurements of this name belong to; null for others.
std::optional<double> results::Cost::*cost_named(const std::string& name) {
  if (name == "parameters") return &results::Cost::parameters;
  if (name == "seconds_per_step") return &results::Cost::seconds_per_step;
  if (name == "peak_bytes") return &results::Cost::peak_bytes;
  return nullptr;
}

/// Returns the mean over seeds of every cost, in the order of tasks and their lines.
void add_costs(Results& results, const std::map<NumberKey, BySeed>& values) {
  for (const results::Task& task : results.tasks) {
    for (const std::string& line : task.lines) {
      results::Cost cost{.task = task.name, .line = line, .parameters = {}, .seconds_per_step = {}, .peak_bytes = {}};
      bool any = false;
      for (const char* name : {"parameters", "seconds_per_step", "peak_bytes"}) {
        const auto found = values.find({task.name, line, name, 0, -1});
        if (found == values.end()) continue;
        const std::optional<results::Estimate> mean = results::estimate(found->second);
        if (mean) cost.*cost_named(name) = mean->mean;
        any = any || mean;
      }
      if (any) results.costs.push_back(std::move(cost));
    }
  }
}

/// Returns the largest relative difference between two machines' numbers of one trial, without costs. Numbers that only
/// one of them has, or that are finite on one only, count as 1.
double largest_difference(const std::vector<Measurement>& a, const std::vector<Measurement>& b) {
  using Key = std::tuple<std::string, std::string, std::int64_t, std::int64_t>;
  const auto by_key = [](const std::vector<Measurement>& all) {
    std::map<Key, double> values;
    for (const Measurement& one : all) {
      if (cost_named(one.name) == nullptr) values[{one.line, one.name, one.length, one.place}] = one.value;
    }
    return values;
  };
  const std::map<Key, double> first = by_key(a), second = by_key(b);
  if (first.size() != second.size()) return 1;
  double largest = 0;
  for (const auto& [key, value] : first) {
    const auto other = second.find(key);
    if (other == second.end() || std::isfinite(value) != std::isfinite(other->second)) return 1;
    if (!std::isfinite(value) || value == other->second) continue;
    largest = std::max(largest, std::abs(value - other->second) / std::max(std::abs(value), std::abs(other->second)));
  }
  return largest;
}

/// Returns every pair of machine kinds that ran the same trial.
void add_repeats(Results& results, Store& store, std::int64_t run, const std::vector<StoredTrial>& trials) {
  std::map<std::string, std::vector<StoredTrial>> same;  // by the key of the original, which comes first
  for (const StoredTrial& one : store.repeats(run)) {
    const auto original =
        std::find_if(trials.begin(), trials.end(), [&](const StoredTrial& trial) { return trial.key == one.repeats; });
    if (one.state != TrialState::finished || original->state != TrialState::finished) continue;
    std::vector<StoredTrial>& own = same[one.repeats];
    if (own.empty()) own.push_back(*original);
    own.push_back(one);
  }
  for (const auto& [key, all] : same) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = i + 1; j < all.size(); ++j) {
        results.repeats.push_back(
            {.machines = {all[i].kind, all[j].kind},
             .task = all[i].spec.task,
             .scheme = all[i].spec.scheme,
             .seed = all[i].spec.seed,
             .largest_difference = largest_difference(store.measurements(all[i].key), store.measurements(all[j].key))});
      }
    }
  }
}

}  // namespace

Results collect(Store& store, std::int64_t run_id) {
  const StoredRun run = store.find_run(run_id);
  Results results = header_of(run);
  results.run.created = run.created;
  results.run.finished = run.finished;
  const std::vector<StoredTrial> trials = store.trials(run_id);
  results.run.planned = static_cast<std::int64_t>(trials.size());
  const std::vector<std::int64_t>& seeds = results.run.seeds;
  std::map<NumberKey, BySeed> values;
  for (const StoredTrial& trial : trials) {
    results.run.seconds += trial.seconds;
    results.run.completed += trial.state == TrialState::finished ? 1 : 0;
    if (trial.state == TrialState::failed) {
      ++results.run.failed;
      results.failures.push_back({trial.spec.task, trial.spec.scheme, trial.spec.seed, trial.error});
    }
    if (trial.state != TrialState::finished) continue;
    results.trials.push_back(
        {trial.spec.task, trial.spec.scheme, trial.spec.seed, trial.seconds, host_of(trial.owner), trial.kind});
    const auto seed = static_cast<std::size_t>(std::find(seeds.begin(), seeds.end(), trial.spec.seed) - seeds.begin());
    for (const Measurement& one : store.measurements(trial.key)) {
      BySeed& own = values[{trial.spec.task, one.line, one.name, one.length, one.place}];
      own.resize(seeds.size());
      own.at(seed) = one.value;
    }
  }
  add_costs(results, values);
  add_repeats(results, store, run_id, trials);
  for (auto& [key, own] : values) {
    const auto& [task, line, name, length, place] = key;
    if (cost_named(name) == nullptr) results.numbers.push_back({task, line, name, length, place, std::move(own)});
  }
  return results;
}

Results make_results(Store& store, std::int64_t run) {
  Results results = collect(store, run);
  results::conclude(results);
  return results;
}

}  // namespace locus::lab
