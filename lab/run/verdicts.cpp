// SPDX-License-Identifier: Apache-2.0
#include "run/verdicts.h"

#include <cmath>
#include <sstream>

namespace locus::lab {
namespace {

bool is_loss(const Json& task) { return task.at("better") == "lower"; }

bool reaches(const Json& task, double value) {
  const double bar = task.at("learned_at");
  return is_loss(task) ? value <= bar : value >= bar;
}

Json or_null(const std::optional<Estimate>& estimate) { return estimate ? Json(estimate->mean) : Json(); }

std::string three_digits(double value) {
  std::ostringstream text;
  text.precision(3);
  text << value;
  return text.str();
}

std::string reason_of(const Numbers& numbers, const Json& task, const std::string& line) {
  const std::string trained = line.substr(0, line.find('+'));
  const BySeed& values = numbers.main_at(task, trained, task.at("train_length"));
  std::int64_t seeds = 0, reached = 0;
  for (const std::optional<double>& value : values) {
    if (value && !std::isfinite(*value)) return "its " + std::string(task.at("main")) + " is not a number";
    seeds += value ? 1 : 0;
    reached += value && reaches(task, *value) ? 1 : 0;
  }
  if (seeds == 0) return "no trial of it was finished";
  const std::string count = std::to_string(reached) + " of " + std::to_string(seeds) + " seeds reached it";
  if (has_learned(numbers, task, line)) return reached == seeds ? "" : count + " in range";
  return "in range " + three_digits(summary(values)->mean) + ", learned counts " +
         (is_loss(task) ? "up to " : "from ") + three_digits(task.at("learned_at")) + "; " + count;
}

/// What ranks: the mean beyond the training length, or at it where nothing longer was tested.
std::optional<double> ranking_value(const Json& verdict) {
  if (!verdict.at("learned").get<bool>()) return {};
  const Json& value = verdict.at("beyond").is_null() ? verdict.at("in_range") : verdict.at("beyond");
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

/// 1 for the best; equals share a rank.
void rank(Json& verdicts, const Json& task) {
  for (Json& own : verdicts) {
    const std::optional<double> value = ranking_value(own);
    if (!value) continue;
    int better = 0;
    for (const Json& other : verdicts) {
      const std::optional<double> theirs = ranking_value(other);
      better += theirs && (is_loss(task) ? *theirs < *value : *theirs > *value) ? 1 : 0;
    }
    own["rank"] = better + 1;
  }
}

}  // namespace

bool has_learned(const Numbers& numbers, const Json& task, const std::string& line) {
  const std::string trained = line.substr(0, line.find('+'));
  const std::optional<Estimate> in_range = summary(numbers.main_at(task, trained, task.at("train_length")));
  return in_range && reaches(task, in_range->mean);
}

Json make_verdicts(const Numbers& numbers, const Json& header) {
  Json all = Json::array();
  for (const Json& task : header.at("tasks")) {
    const std::string name = task.at("name");
    Json verdicts = Json::array();
    for (const Json& line : header.at("lines_of").at(name)) {
      const std::string own = line;
      const bool beyond_broken = !summary(numbers.main_beyond(task, own)) && !numbers.main_beyond(task, own).empty();
      Json verdict{{"task", name},
                   {"line", own},
                   {"learned", has_learned(numbers, task, own)},
                   {"in_range", or_null(summary(numbers.main_at(task, own, task.at("train_length"))))},
                   {"beyond", or_null(summary(numbers.main_beyond(task, own)))},
                   {"rank", nullptr},
                   {"reason", reason_of(numbers, task, own)}};
      if (beyond_broken && verdict["reason"] == "") verdict["reason"] = "beyond its length it gives no finite number";
      verdicts.push_back(verdict);
    }
    rank(verdicts, task);
    for (Json& verdict : verdicts) all.push_back(std::move(verdict));
  }
  return all;
}

Json make_pairs(const Numbers& numbers, const Json& header) {
  Json pairs = Json::array();
  const std::string baseline = header.at("baseline");
  for (const Json& task : header.at("tasks")) {
    for (const Json& line : header.at("lines_of").at(task.at("name").get<std::string>())) {
      if (line == baseline) continue;
      for (const Json& length : task.at("lengths")) {
        const BySeed differences =
            difference(numbers.main_at(task, line, length), numbers.main_at(task, baseline, length));
        const std::optional<Estimate> found = summary(differences);
        if (!found) continue;
        pairs.push_back({{"task", task.at("name")},
                         {"name", task.at("main")},
                         {"length", length},
                         {"line", line},
                         {"other", baseline},
                         {"difference", found->mean},
                         {"low", found->interval ? Json(found->interval->low) : Json()},
                         {"high", found->interval ? Json(found->interval->high) : Json()},
                         {"seeds", seeds_in(differences)}});
      }
    }
  }
  return pairs;
}

}  // namespace locus::lab
