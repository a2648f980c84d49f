// SPDX-License-Identifier: Apache-2.0
#include "figures/report/results.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "locus/error.h"

namespace locus::figures {
namespace {

/// One object of the file, with the place where it stands for error messages.
class Reader {
 public:
  Reader(const Json& object, std::string place) : object_(object), place_(std::move(place)) {
    require(object_.is_object(), place_, " must be an object, got ", object_.type_name());
  }

  const Json& at(const char* key) const {
    const auto found = object_.find(key);
    require(found != object_.end(), place_, " has no \"", key, "\"");
    return *found;
  }
  std::string text(const char* key) const {
    require(at(key).is_string(), place_, ".", key, " must be text, got ", at(key).type_name());
    return at(key).get<std::string>();
  }
  /// Empty where it is missing or null.
  std::string text_or_nothing(const char* key) const { return has(key) ? text(key) : std::string(); }
  std::int64_t integer(const char* key) const {
    require(at(key).is_number_integer(), place_, ".", key, " must be a whole number, got ", shown(at(key)));
    return at(key).get<std::int64_t>();
  }
  std::int64_t integer_or_zero(const char* key) const { return has(key) ? integer(key) : 0; }
  bool flag(const char* key) const {
    require(at(key).is_boolean(), place_, ".", key, " must be true or false, got ", shown(at(key)));
    return at(key).get<bool>();
  }
  double number(const char* key) const {
    require(at(key).is_number(), place_, ".", key, " must be a number, got ", shown(at(key)));
    return at(key).get<double>();
  }
  std::optional<double> number_or_nothing(const char* key) const {
    return has(key) ? std::optional<double>(number(key)) : std::nullopt;
  }
  const Json& array(const char* key) const {
    require(at(key).is_array(), place_, ".", key, " must be an array, got ", at(key).type_name());
    return at(key);
  }
  std::vector<std::int64_t> integers(const char* key) const {
    std::vector<std::int64_t> values;
    for (const Json& value : array(key)) {
      require(value.is_number_integer(), place_, ".", key, " must hold whole numbers, got ", shown(value));
      values.push_back(value.get<std::int64_t>());
    }
    return values;
  }
  const std::string& place() const { return place_; }

 private:
  bool has(const char* key) const {
    const auto found = object_.find(key);
    return found != object_.end() && !found->is_null();
  }
  static std::string shown(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60);
  }

  const Json& object_;
  std::string place_;
};

template <class T>
std::vector<T> read_all(const Reader& file, const char* key, const std::function<T(const Reader&)>& read) {
  std::vector<T> all;
  for (const Json& one : file.array(key)) {
    all.push_back(read(Reader(one, std::string(key) + "[" + std::to_string(all.size()) + "]")));
  }
  return all;
}

ResultTask read_task(const Reader& from) {
  ResultTask task;
  task.name = from.text("name");
  task.title = from.text("title");
  task.measures = from.text("measures");
  task.main = from.text("main");
  const std::string better = from.text("better"), metric = from.text("metric");
  require(better == "lower" || better == "higher", from.place(), ".better must be lower or higher, got ", better);
  task.higher_is_better = better == "higher";
  task.is_loss = metric == "loss";
  task.chance = from.number_or_nothing("chance");
  task.majority = from.number_or_nothing("majority");
  task.learned_at = from.number_or_nothing("learned_at");
  task.train_length = from.integer("train_length");
  task.lengths = from.integers("lengths");
  task.steps = from.integer_or_zero("steps");
  task.tune_steps = from.integer_or_zero("tune_steps");
  task.batch = from.integer_or_zero("batch");
  task.learning_rate = from.number_or_nothing("learning_rate");
  const Reader model(from.at("model"), from.place() + ".model");
  task.layers = model.integer("layers");
  task.heads = model.integer("heads");
  task.width = model.integer("width");
  return task;
}

ResultLine read_line(const Reader& from) {
  return {.name = from.text("name"),
          .trained = from.text("trained"),
          .label = from.text("label"),
          .site = from.text_or_nothing("site"),
          .variant = from.text_or_nothing("variant"),
          .tuned = from.flag("tuned")};
}

ResultNumber read_number(const Reader& from) {
  ResultNumber number{.task = from.text("task"),
                      .line = from.text("line"),
                      .name = from.text("name"),
                      .length = from.integer("length"),
                      .place = from.integer("place"),
                      .mean = from.number("mean"),
                      .low = from.number_or_nothing("low"),
                      .high = from.number_or_nothing("high"),
                      .values = {}};
  for (const Json& value : from.array("values")) {
    require(value.is_number() || value.is_null(), from.place(), ".values must hold numbers or null");
    number.values.push_back(value.is_null() ? std::nullopt : std::optional<double>(value.get<double>()));
  }
  return number;
}

ResultVerdict read_verdict(const Reader& from) {
  return {.task = from.text("task"),
          .line = from.text("line"),
          .learned = from.flag("learned"),
          .in_range = from.number_or_nothing("in_range"),
          .beyond = from.number_or_nothing("beyond"),
          .reason = from.text_or_nothing("reason")};
}

ResultClaim read_claim(const Reader& from) {
  return {from.text("claim"), from.text_or_nothing("source"), from.text("seen"), from.text("agrees")};
}

ResultCost read_cost(const Reader& from) {
  return {from.text("task"), from.text("line"), from.number_or_nothing("parameters"),
          from.number_or_nothing("seconds_per_step"), from.number_or_nothing("peak_bytes")};
}

}  // namespace

const ResultLine& Results::line(const std::string& name) const {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const ResultLine& one) { return one.name == name; });
  require(found != lines.end(), "the results have no line called \"", name, "\"");
  return *found;
}

std::string Results::label(const std::string& name) const {
  const auto found = std::find_if(lines.begin(), lines.end(), [&](const ResultLine& one) { return one.name == name; });
  return found == lines.end() ? name : found->label;
}

bool Results::learned(const std::string& task, const std::string& line) const {
  return std::any_of(verdicts.begin(), verdicts.end(), [&](const ResultVerdict& verdict) {
    return verdict.task == task && verdict.line == line && verdict.learned;
  });
}

Results read_results(const Json& file) {
  const Reader from(file, "the results");
  require(from.integer("format") == 1, "the results have format ", from.integer("format"), "; this Locus reads 1");
  Results results;
  results.run = from.at("run");
  const Reader run(results.run, "run");
  results.seeds = run.integers("seeds");
  results.tasks = read_all<ResultTask>(from, "tasks", read_task);
  results.lines = read_all<ResultLine>(from, "lines", read_line);
  for (const Json& one : from.array("numbers")) {  // a mean of nothing is null, and nothing to show
    if (one.is_object() && one.contains("mean") && one["mean"].is_null()) continue;
    results.numbers.push_back(
        read_number(Reader(one, "numbers[" + std::to_string(&one - &from.array("numbers")[0]) + "]")));
  }
  results.verdicts = read_all<ResultVerdict>(from, "verdicts", read_verdict);
  results.claims = read_all<ResultClaim>(from, "claims", read_claim);
  results.costs = read_all<ResultCost>(from, "costs", read_cost);
  if (file.contains("failures")) {
    results.failures = read_all<ResultFailure>(from, "failures", [](const Reader& one) {
      return ResultFailure{one.text("task"), one.text("scheme"), one.integer("seed"), one.text("error")};
    });
  }
  require(!results.tasks.empty(), "the results have no task");
  return results;
}

}  // namespace locus::figures
