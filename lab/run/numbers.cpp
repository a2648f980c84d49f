// SPDX-License-Identifier: Apache-2.0
#include "run/numbers.h"

#include <algorithm>
#include <cmath>

namespace locus::lab {
namespace {

/// Seed by seed, the mean of what is there; absent where one is.
BySeed mean_of(const std::vector<const BySeed*>& all) {
  BySeed result;
  if (all.empty()) return result;
  for (std::size_t seed = 0; seed < all.front()->size(); ++seed) {
    double sum = 0;
    bool complete = true;
    for (const BySeed* one : all) {
      const bool there = seed < one->size() && (*one)[seed].has_value();
      complete = complete && there;
      if (there) sum += *(*one)[seed];
    }
    result.push_back(complete ? std::optional(sum / static_cast<double>(all.size())) : std::nullopt);
  }
  return result;
}

}  // namespace

std::optional<Estimate> summary(const BySeed& values) {
  std::vector<double> there;
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    if (!std::isfinite(*value)) return {};
    there.push_back(*value);
  }
  if (there.empty()) return {};
  return estimate(there);
}

BySeed difference(const BySeed& a, const BySeed& b) {
  BySeed result;
  for (std::size_t seed = 0; seed < std::min(a.size(), b.size()); ++seed) {
    result.push_back(a[seed] && b[seed] ? std::optional(*a[seed] - *b[seed]) : std::nullopt);
  }
  return result;
}

std::int64_t seeds_in(const BySeed& values) {
  return std::count_if(values.begin(), values.end(), [](const std::optional<double>& one) { return one.has_value(); });
}

Numbers::Numbers(Store& store, const StoredRun& run, const std::vector<StoredTrial>& trials) {
  const auto seeds = run.header.at("seeds").get<std::vector<std::int64_t>>();
  for (const StoredTrial& trial : trials) {
    if (trial.state != TrialState::finished) continue;
    const auto seed = static_cast<std::size_t>(std::find(seeds.begin(), seeds.end(), trial.spec.seed) - seeds.begin());
    for (const Measurement& one : store.measurements(trial.key)) {
      BySeed& values = index_[{trial.spec.task, one.line, one.name, one.length, one.place}];
      values.resize(seeds.size());
      values.at(seed) = one.value;
    }
  }
  for (const Json& task : run.header.at("tasks")) add_means_over_places(task, seeds.size());
  order(run.header);
}

void Numbers::add_means_over_places(const Json& task, std::size_t seeds) {
  const std::string name = task.at("name"), main = task.at("main");
  std::map<std::pair<std::string, std::int64_t>, std::vector<const BySeed*>> places;  // by line and length
  for (const auto& [key, values] : index_) {
    const auto& [own_task, line, own_name, length, place] = key;
    if (own_task == name && own_name == main) places[{line, length}].push_back(place >= 0 ? &values : nullptr);
  }
  for (const auto& [key, all] : places) {
    if (std::find(all.begin(), all.end(), nullptr) != all.end()) continue;  // the whole is there
    BySeed mean = mean_of(all);
    mean.resize(seeds);
    index_[{name, key.first, main, key.second, -1}] = std::move(mean);
  }
}

void Numbers::order(const Json& header) {
  for (const auto& [task, lines] : header.at("lines_of").items()) {
    for (const Json& line : lines) {
      const std::string name = line;
      for (const auto& [key, values] : index_) {
        if (std::get<0>(key) != task || std::get<1>(key) != name) continue;
        all_.push_back({{task, name, std::get<2>(key), std::get<3>(key), std::get<4>(key)}, values});
      }
    }
  }
}

const BySeed& Numbers::at(const std::string& task, const std::string& line, const std::string& name,
                          std::int64_t length, std::int64_t place) const {
  static const BySeed none;
  const auto found = index_.find({task, line, name, length, place});
  return found == index_.end() ? none : found->second;
}

const BySeed& Numbers::main_at(const Json& task, const std::string& line, std::int64_t length) const {
  return at(task.at("name"), line, task.at("main"), length);
}

BySeed Numbers::main_beyond(const Json& task, const std::string& line) const {
  std::vector<const BySeed*> longer;
  for (const Json& length : task.at("lengths")) {
    if (length > task.at("train_length")) longer.push_back(&main_at(task, line, length));
  }
  return mean_of(longer);
}

}  // namespace locus::lab
