// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "locus/error.h"
#include "results/json.h"

namespace locus::results {
namespace {

Speed read_speed(const Fields& from) {
  Speed speed{.task = from.text_or_empty("task"), .ratio = from.number("steps_per_second_ratio"), .schemes = {}};
  if (!from.has("schemes")) return speed;
  speed.schemes = from.all("schemes", [](const Fields& one) {
    return SchemeSpeed{.scheme = one.text("scheme"),
                       .steps_per_second = one.number("steps_per_second"),
                       .torch_steps_per_second = one.optional_number("torch_steps_per_second"),
                       .ratio = one.optional_number("ratio")};
  });
  return speed;
}

Run read_run(const Fields& from) {
  Run run;
  run.preset = from.text_or_empty("preset");
  run.created = from.text_or_empty("created");
  run.finished = from.text_or_empty("finished");
  run.seconds = from.optional_number("seconds").value_or(0);
  if (from.has("trials")) {
    const Fields trials = from.object("trials");
    run.planned = trials.integer_or_zero("planned");
    run.completed = trials.integer_or_zero("finished");
    run.failed = trials.integer_or_zero("failed");
  }
  if (from.has("machine")) {
    const Fields machine = from.object("machine");
    run.machine = {.cpu = machine.text_or_empty("cpu"),
                   .simd = machine.text_or_empty("simd"),
                   .cores = machine.integer_or_zero("cores"),
                   .memory_bytes = machine.integer_or_zero("memory_bytes")};
  }
  if (from.has("versions")) {
    const Fields versions = from.object("versions");
    for (const auto& item : from.at("versions").items()) {
      run.versions.emplace_back(item.key(), versions.text(item.key().c_str()));
    }
  }
  run.seeds = from.integers("seeds");
  run.baseline = from.text_or_empty("baseline");
  if (from.has("speed")) run.speed = read_speed(from.object("speed"));
  return run;
}

Task read_task(const Fields& from) {
  const std::string better = from.text("better"), metric = from.text("metric");
  if (better != "lower" && better != "higher") fail(from.place(), ".better must be lower or higher, got ", better);
  if (metric != "loss" && metric != "accuracy") fail(from.place(), ".metric must be loss or accuracy, got ", metric);
  const Fields model = from.object("model");
  Task task{.name = from.text("name"),
            .title = from.text("title"),
            .measures = from.text("measures"),
            .main = from.text("main"),
            .is_loss = metric == "loss",
            .higher_is_better = better == "higher",
            .chance = from.optional_number("chance"),
            .majority = from.optional_number("majority"),
            .learned_at = from.optional_number("learned_at"),
            .trained_length = from.integer("train_length"),
            .lengths = from.integers("lengths"),
            .steps = from.integer_or_zero("steps"),
            .tune_steps = from.integer_or_zero("tune_steps"),
            .batch = from.integer_or_zero("batch"),
            .learning_rate = from.optional_number("learning_rate"),
            .layers = model.integer("layers"),
            .heads = model.integer("heads"),
            .width = model.integer("width"),
            .lines = {}};
  if (from.has("lines")) task.lines = from.texts("lines");
  const bool tested = std::find(task.lengths.begin(), task.lengths.end(), task.trained_length) != task.lengths.end();
  if (!tested) fail(from.place(), ".lengths must hold train_length (", task.trained_length, ")");
  return task;
}

Line read_line(const Fields& from) {
  return {.name = from.text("name"),
          .trained = from.text("trained"),
          .label = from.text("label"),
          .site = from.text_or_empty("site"),
          .variant = from.text_or_empty("variant"),
          .tuned = from.flag("tuned")};
}

/// `mean` may be null if a seed's number was not finite.
Number read_number(const Fields& from, std::size_t seeds) {
  Number number{.task = from.text("task"),
                .line = from.text("line"),
                .name = from.text("name"),
                .length = from.integer("length"),
                .place = from.integer("place")};
  for (const Json& value : from.array("values")) {
    if (!value.is_number() && !value.is_null()) fail(from.place(), ".values must hold numbers or null");
    number.values.push_back(value.is_null() ? std::nullopt : std::optional(value.get<double>()));
  }
  if (number.values.size() != seeds) {
    fail(from.place(), ".values must hold one number per seed (", seeds, "), got ", number.values.size());
  }
  from.at("mean");
  if (!from.has("mean")) return number;
  number.estimate = {.mean = from.number("mean"),
                     .low = from.optional_number("low"),
                     .high = from.optional_number("high"),
                     .seeds = 0};
  for (const std::optional<double>& value : number.values) number.estimate->seeds += value ? 1 : 0;
  return number;
}

Outcome read_outcome(const Fields& from) {
  return {.task = from.text("task"),
          .line = from.text("line"),
          .learned = from.flag("learned"),
          .in_range = from.optional_number("in_range"),
          .beyond = from.optional_number("beyond"),
          .rank = from.has("rank") ? std::optional(from.integer("rank")) : std::nullopt,
          .reason = from.text_or_empty("reason")};
}

Pair read_pair(const Fields& from) {
  return {.task = from.text("task"),
          .name = from.text("name"),
          .length = from.integer("length"),
          .line = from.text("line"),
          .other = from.text("other"),
          .difference = {.mean = from.number("difference"),
                         .low = from.optional_number("low"),
                         .high = from.optional_number("high"),
                         .seeds = static_cast<std::size_t>(from.integer_or_zero("seeds"))}};
}

PaperClaim read_paper_claim(const Fields& from) {
  return {from.text("claim"), from.text_or_empty("source"), from.text("seen"), from.text("agrees")};
}

Cost read_cost(const Fields& from) {
  return {from.text("task"), from.text("line"), from.optional_number("parameters"),
          from.optional_number("seconds_per_step"), from.optional_number("peak_bytes")};
}

Failure read_failure(const Fields& from) {
  return {from.text("task"), from.text("scheme"), from.integer("seed"), from.text("error")};
}

Trial read_trial(const Fields& from) {
  return {from.text("task"),      from.text("scheme"), from.integer("seed"),
          from.number("seconds"), from.text("host"),   from.text("machine")};
}

Repeat read_repeat(const Fields& from) {
  const std::vector<std::string> machines = from.texts("machines");
  if (machines.size() != 2) fail(from.place(), ".machines must hold two kinds, got ", machines.size());
  return {.machines = {machines[0], machines[1]},
          .task = from.text("task"),
          .scheme = from.text("scheme"),
          .seed = from.integer("seed"),
          .largest_difference = from.number("largest_difference")};
}

Results read_header_fields(const Fields& from) {
  Results results;
  results.run = read_run(Fields(from.at("run"), "run"));
  results.tasks = from.all("tasks", read_task);
  results.lines = from.all("lines", read_line);
  return results;
}

/// For files written before tasks named their lines: takes the names from the outcomes.
void complete_lines(Results& results) {
  for (Task& task : results.tasks) {
    if (!task.lines.empty()) continue;
    for (const Outcome& outcome : results.outcomes) {
      if (outcome.task == task.name) task.lines.push_back(outcome.line);
    }
  }
}

}  // namespace

Results read_header(const Json& json) { return read_header_fields(Fields(json, "the run")); }

Results read_results(const Json& json) {
  const Fields from(json, "the results");
  if (from.integer("format") != 1) fail("the results have format ", from.integer("format"), "; this Locus reads 1");
  Results results = read_header_fields(from);
  const std::size_t seeds = results.run.seeds.size();
  results.numbers = from.all("numbers", [&](const Fields& one) { return read_number(one, seeds); });
  results.outcomes = from.all("verdicts", read_outcome);
  if (from.has("pairs")) results.pairs = from.all("pairs", read_pair);
  results.paper_claims = from.all("claims", read_paper_claim);
  results.costs = from.all("costs", read_cost);
  if (from.has("failures")) results.failures = from.all("failures", read_failure);
  if (from.has("trials")) results.trials = from.all("trials", read_trial);
  if (from.has("repeats")) results.repeats = from.all("repeats", read_repeat);
  if (results.tasks.empty()) fail("the results have no task");
  complete_lines(results);
  return results;
}

}  // namespace locus::results
