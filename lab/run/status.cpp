// SPDX-License-Identifier: Apache-2.0
#include "run/status.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>

#include "results/units.h"
#include "run/owner.h"
#include "run/text_table.h"
#include "run/timing.h"

namespace locus::lab {
namespace {

/// A repeat is listed among the running trials, but is not counted as planned.
Json running_trial(const StoredTrial& trial, double now) {
  return {{"task", trial.spec.task},
          {"scheme", trial.spec.scheme},
          {"seed", trial.spec.seed},
          {"repeat", !trial.repeats.empty()},
          {"host", host_of(trial.owner)},
          {"machine", trial.kind},
          {"seconds", std::max(now - trial.started, 0.0)},
          {"done", trial.done},
          {"silent", std::max(now - trial.heartbeat, 0.0)},
          {"lost", now > trial.expires}};
}

Json run_status(Store& store, std::int64_t id, const Timing& timing, double now) {
  const StoredRun run = store.find_run(id);
  const std::vector<StoredTrial> trials = store.trials(id);
  const auto count = [&](TrialState state) {
    return std::count_if(trials.begin(), trials.end(), [&](const StoredTrial& one) { return one.state == state; });
  };
  const auto at_work = count(TrialState::leased);
  Json running = Json::array();
  for (const auto& all : {trials, store.repeats(id)}) {
    for (const StoredTrial& trial : all) {
      if (trial.state == TrialState::leased) running.push_back(running_trial(trial, now));
    }
  }
  const std::optional<double> left = work_left(trials, timing);
  const bool known = left && (at_work > 0 || *left == 0);
  const Json header = run.header.contains("run") ? run.header["run"] : Json::object();
  return {{"run", id},
          {"preset", header.value("preset", "")},
          {"created", run.created},
          {"trials",
           {{"planned", trials.size()},
            {"finished", count(TrialState::finished)},
            {"failed", count(TrialState::failed)},
            {"running", at_work},
            {"waiting", count(TrialState::waiting)}}},
          {"seconds_left", known ? Json(at_work > 0 ? *left / static_cast<double>(at_work) : 0.0) : Json()},
          {"running", running}};
}

/// Lists hosts with their running and finished trials.
Json machines_of(Store& store, const std::vector<std::int64_t>& runs) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, std::int64_t>> counts;
  for (const std::int64_t run : runs) {
    for (const StoredTrial& trial : store.trials(run)) {
      if (trial.owner.empty()) continue;
      auto& own = counts[{host_of(trial.owner), trial.kind}];
      own["running"] += trial.state == TrialState::leased ? 1 : 0;
      own["finished"] += trial.state == TrialState::finished ? 1 : 0;
    }
  }
  Json machines = Json::array();
  for (auto& [machine, own] : counts) {
    machines.push_back({{"host", machine.first},
                        {"machine", machine.second},
                        {"running", own["running"]},
                        {"finished", own["finished"]}});
  }
  return machines;
}

std::string seconds_text(const Json& seconds) { return results::duration(std::floor(seconds.get<double>())); }

std::string running_table(const Json& running) {
  TextTable table;
  table.add({"trial", "host", "for", "done", "last heard"});
  for (const Json& one : running) {
    table.add({one.at("task").get<std::string>() + ' ' + one.at("scheme").get<std::string>() + ", seed " +
                   one.at("seed").dump() + (one.at("repeat").get<bool>() ? ", repeated" : ""),
               one.at("host"), seconds_text(one.at("seconds")),
               std::to_string(static_cast<int>(one.at("done").get<double>() * 100)) + " %",
               seconds_text(one.at("silent")) + " ago" +
                   (one.at("lost").get<bool>() ? ": lost; the next worker takes it" : "")});
  }
  return table.text(5);
}

}  // namespace

Json status_of(Store& store) {
  std::vector<std::int64_t> ids = store.unfinished_runs();
  if (const std::optional<StoredRun> last = store.latest_run(); ids.empty() && last) ids.push_back(last->id);
  Timing timing;
  for (const StoredTrial& trial : store.finished_trials()) timing.add(trial.spec, trial.seconds);
  const double now = store.now();
  Json runs = Json::array();
  for (const std::int64_t id : ids) runs.push_back(run_status(store, id, timing, now));
  return {{"store", store.name()}, {"runs", runs}, {"machines", machines_of(store, ids)}};
}

std::string status_text(const Json& status) {
  std::ostringstream text;
  if (status.at("runs").empty()) text << "The store " << status.at("store").get<std::string>() << " has no run.\n";
  for (const Json& run : status.at("runs")) {
    const Json& trials = run.at("trials");
    text << "Run " << run.at("run") << " (preset " << run.at("preset").get<std::string>() << ", submitted "
         << run.at("created").get<std::string>() << "): " << trials.at("finished") << " of " << trials.at("planned")
         << " trials finished, " << trials.at("failed") << " failed, " << trials.at("running") << " running, "
         << trials.at("waiting") << " waiting";
    if (!run.at("seconds_left").is_null() && run.at("seconds_left") > 0) {
      text << "; about " << seconds_text(run.at("seconds_left")) << " left with as many workers as now";
    } else if (trials.at("running") == 0 && trials.at("waiting") > 0) {
      text << "; no worker runs it";
    }
    text << '\n';
    if (!run.at("running").empty()) text << running_table(run.at("running"));
  }
  if (!status.at("machines").empty()) {
    TextTable table;
    table.add({"host", "machine", "running", "finished"});
    for (const Json& one : status.at("machines")) {
      table.add({one.at("host"), one.at("machine"), one.at("running").dump(), one.at("finished").dump()});
    }
    text << table.text(2);
  }
  return text.str();
}

}  // namespace locus::lab
