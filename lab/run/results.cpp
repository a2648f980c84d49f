// SPDX-License-Identifier: Apache-2.0
#include "run/results.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "locus/io/atomic_file.h"
#include "run/claims.h"
#include "run/numbers.h"
#include "run/text_table.h"
#include "run/verdicts.h"

namespace locus::lab {
namespace {

constexpr std::array costs = {"parameters", "seconds_per_step", "peak_bytes"};

bool is_cost(const std::string& name) { return std::find(costs.begin(), costs.end(), name) != costs.end(); }

Json run_json(const StoredRun& run, const std::vector<StoredTrial>& trials) {
  std::int64_t finished = 0, failed = 0;
  double seconds = 0;
  for (const StoredTrial& trial : trials) {
    finished += trial.state == TrialState::finished ? 1 : 0;
    failed += trial.state == TrialState::failed ? 1 : 0;
    seconds += trial.seconds;
  }
  return {{"preset", run.header.at("preset")},
          {"created", run.created},
          {"finished", run.finished.empty() ? Json() : Json(run.finished)},
          {"seconds", seconds},
          {"trials", {{"planned", trials.size()}, {"finished", finished}, {"failed", failed}}},
          {"machine", run.header.at("machine")},
          {"versions", run.header.at("versions")},
          {"seeds", run.header.at("seeds")},
          {"speed", run.header.at("speed")}};
}

Json finite_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

Json number_json(const NumberKey& key, const BySeed& values) {
  const std::optional<Estimate> found = summary(values);
  const Interval* const interval = found && found->interval ? &*found->interval : nullptr;
  Json all = Json::array();
  for (const std::optional<double>& value : values) all.push_back(finite_or_null(value));
  return {{"task", key.task},
          {"line", key.line},
          {"name", key.name},
          {"length", key.length},
          {"place", key.place},
          {"mean", found ? Json(found->mean) : Json()},
          {"low", interval ? Json(interval->low) : Json()},
          {"high", interval ? Json(interval->high) : Json()},
          {"values", all}};
}

Json costs_json(const Numbers& numbers, const Json& header) {
  Json all = Json::array();
  for (const auto& [task, lines] : header.at("lines_of").items()) {
    for (const Json& line : lines) {
      Json cost{{"task", task}, {"line", line}};
      bool any = false;
      for (const char* name : costs) {
        const std::optional<Estimate> found = summary(numbers.at(task, line, name, 0));
        cost[name] = found ? Json(found->mean) : Json();
        any = any || found;
      }
      if (any) all.push_back(std::move(cost));
    }
  }
  return all;
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  const std::array<io::ByteChunk, 1> chunks = {std::as_bytes(std::span(text))};
  io::write_atomically(file, chunks);
}

}  // namespace

Json make_results(Store& store, std::int64_t run_id) {
  const StoredRun run = store.find_run(run_id);
  const std::vector<StoredTrial> trials = store.trials(run_id);
  const Numbers numbers(store, run, trials);
  Json rows = Json::array();
  for (const auto& [key, values] : numbers.all()) {
    if (!is_cost(key.name)) rows.push_back(number_json(key, values));
  }
  Json failures = Json::array();
  for (const StoredTrial& trial : trials) {
    if (trial.state != TrialState::failed) continue;
    failures.push_back(
        {{"task", trial.spec.task}, {"scheme", trial.spec.scheme}, {"seed", trial.spec.seed}, {"error", trial.error}});
  }
  return {{"format", 1},
          {"run", run_json(run, trials)},
          {"tasks", run.header.at("tasks")},
          {"lines", run.header.at("lines")},
          {"numbers", rows},
          {"verdicts", make_verdicts(numbers, run.header)},
          {"pairs", make_pairs(numbers, run.header)},
          {"claims", make_claims(numbers, run.header)},
          {"costs", costs_json(numbers, run.header)},
          {"failures", failures}};
}

std::string results_csv(const Json& results) {
  const auto text_of = [](const Json& value) {
    if (value.is_null()) return std::string();
    if (!value.is_string()) return value.dump();
    // Names may hold a comma: "rope:a=1,b=2".
    const std::string text = value;
    return text.find_first_of(",\"") == std::string::npos ? text : Json(text).dump();
  };
  std::string csv = "task,line,name,length,place,mean,low,high";
  for (const Json& seed : results.at("run").at("seeds")) csv += ",seed_" + seed.dump();
  csv += '\n';
  for (const Json& number : results.at("numbers")) {
    std::string row;
    for (const char* column : {"task", "line", "name", "length", "place", "mean", "low", "high"}) {
      append(row, text_of(number.at(column)), ",");
    }
    for (const Json& value : number.at("values")) row += ',' + text_of(value);
    csv += row + '\n';
  }
  return csv;
}

void write_results(const std::filesystem::path& folder, const Json& results) {
  write_text(folder / "results.json", results.dump(1, ' ', false, Json::error_handler_t::replace) + '\n');
  write_text(folder / "results.csv", results_csv(results));
}

}  // namespace locus::lab
