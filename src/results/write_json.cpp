// SPDX-License-Identifier: Apache-2.0
#include "results/json.h"
#include "results/ranking.h"

namespace locus::results {
namespace {

Json or_null(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

template <class T, class Write>
Json array_of(const std::vector<T>& all, const Write& write) {
  Json result = Json::array();
  for (const T& one : all) result.push_back(write(one));
  return result;
}

Json json_of(const Run& run) {
  Json versions = Json::object();
  for (const auto& [name, version] : run.versions) versions[name] = version;
  return {{"preset", run.preset},
          {"created", run.created},
          {"finished", run.finished.empty() ? Json() : Json(run.finished)},
          {"seconds", run.seconds},
          {"trials", {{"planned", run.planned}, {"finished", run.completed}, {"failed", run.failed}}},
          {"machine",
           {{"cpu", run.machine.cpu},
            {"cores", run.machine.cores},
            {"memory_bytes", run.machine.memory_bytes},
            {"simd", run.machine.simd}}},
          {"versions", std::move(versions)},
          {"seeds", run.seeds},
          {"baseline", run.baseline},
          {"speed", run.speed ? to_json(*run.speed) : Json()}};
}

Json json_of(const Task& task) {
  return {{"name", task.name},
          {"title", task.title},
          {"measures", task.measures},
          {"main", task.main},
          {"metric", task.is_loss ? "loss" : "accuracy"},
          {"better", task.higher_is_better ? "higher" : "lower"},
          {"chance", or_null(task.chance)},
          {"majority", or_null(task.majority)},
          {"learned_at", or_null(task.learned_at)},
          {"train_length", task.trained_length},
          {"lengths", task.lengths},
          {"steps", task.steps},
          {"tune_steps", task.tune_steps},
          {"batch", task.batch},
          {"learning_rate", or_null(task.learning_rate)},
          {"model", {{"layers", task.layers}, {"heads", task.heads}, {"width", task.width}}},
          {"lines", task.lines}};
}

Json json_of(const Line& line) {
  return {{"name", line.name}, {"trained", line.trained}, {"label", line.label},
          {"site", line.site}, {"variant", line.variant}, {"tuned", line.tuned}};
}

Json json_of(const Number& number) {
  const Estimate* const found = number.estimate ? &*number.estimate : nullptr;
  return {{"task", number.task},
          {"line", number.line},
          {"name", number.name},
          {"length", number.length},
          {"place", number.place},
          {"mean", found != nullptr ? Json(found->mean) : Json()},
          {"low", found != nullptr ? or_null(found->low) : Json()},
          {"high", found != nullptr ? or_null(found->high) : Json()},
          {"values", array_of(number.values, or_null)}};
}

Json json_of(const Outcome& outcome) {
  return {{"task", outcome.task},
          {"line", outcome.line},
          {"learned", outcome.learned},
          {"in_range", or_null(outcome.in_range)},
          {"beyond", or_null(outcome.beyond)},
          {"rank", outcome.rank ? Json(*outcome.rank) : Json()},
          {"reason", outcome.reason}};
}

Json json_of(const Pair& pair) {
  return {{"task", pair.task},
          {"name", pair.name},
          {"length", pair.length},
          {"line", pair.line},
          {"other", pair.other},
          {"difference", pair.difference.mean},
          {"low", or_null(pair.difference.low)},
          {"high", or_null(pair.difference.high)},
          {"seeds", pair.difference.seeds}};
}

Json json_of(const RankedLine& line) {
  const Estimate& gain = line.gain.score;
  return {{"rank", line.gain.rank},
          {"line", line.gain.line},
          {"gain", gain.mean},
          {"low", or_null(gain.low)},
          {"high", or_null(gain.high)},
          {"worst_task", line.worst != nullptr ? Json(line.worst->name) : Json()},
          {"worst_gain", line.worst != nullptr ? Json(line.worst_gain) : Json()},
          {"learned", line.learned},
          {"tested", line.tested},
          {"leads", line.gain.leads}};
}

Json json_of(const PaperClaim& claim) {
  return {{"claim", claim.claim}, {"source", claim.source}, {"seen", claim.seen}, {"agrees", claim.agrees}};
}

Json json_of(const Cost& cost) {
  return {{"task", cost.task},
          {"line", cost.line},
          {"parameters", or_null(cost.parameters)},
          {"seconds_per_step", or_null(cost.seconds_per_step)},
          {"peak_bytes", or_null(cost.peak_bytes)}};
}

Json json_of(const Failure& failure) {
  return {{"task", failure.task}, {"scheme", failure.scheme}, {"seed", failure.seed}, {"error", failure.error}};
}

Json json_of(const Trial& trial) {
  return {{"task", trial.task},       {"scheme", trial.scheme}, {"seed", trial.seed},
          {"seconds", trial.seconds}, {"host", trial.host},     {"machine", trial.machine}};
}

Json json_of(const Repeat& repeat) {
  return {{"machines", repeat.machines},
          {"task", repeat.task},
          {"scheme", repeat.scheme},
          {"seed", repeat.seed},
          {"largest_difference", repeat.largest_difference}};
}

/// Converts a list of results to an array.
template <class T>
Json json_of(const std::vector<T>& all) {
  return array_of(all, [](const T& one) { return json_of(one); });
}

}  // namespace

Json to_json(const Speed& speed) {
  return {{"task", speed.task},
          {"steps_per_second_ratio", speed.ratio},
          {"schemes", array_of(speed.schemes, [](const SchemeSpeed& one) -> Json {
             return {{"scheme", one.scheme},
                     {"steps_per_second", one.steps_per_second},
                     {"torch_steps_per_second", or_null(one.torch_steps_per_second)},
                     {"ratio", or_null(one.ratio)}};
           })}};
}

Json header_json(const Results& results) {
  return {{"run", json_of(results.run)}, {"tasks", json_of(results.tasks)}, {"lines", json_of(results.lines)}};
}

Json to_json(const Results& results) {
  Json json = {{"format", 1}};
  json.update(header_json(results));
  json["ranking"] = json_of(ranking_of(results).lines);
  json["numbers"] = json_of(results.numbers);
  json["verdicts"] = json_of(results.outcomes);
  json["pairs"] = json_of(results.pairs);
  json["claims"] = json_of(results.paper_claims);
  json["costs"] = json_of(results.costs);
  json["failures"] = json_of(results.failures);
  json["trials"] = json_of(results.trials);
  json["repeats"] = json_of(results.repeats);
  return json;
}

}  // namespace locus::results
