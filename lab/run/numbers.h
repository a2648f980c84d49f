// SPDX-License-Identifier: Apache-2.0
// The numbers of a run, gathered over seeds.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "run/json.h"
#include "run/statistics.h"
#include "run/store.h"

namespace locus::lab {

/// One number for each seed of the run, in its order; absent where the trial is not there, NaN where it was not finite.
using BySeed = std::vector<std::optional<double>>;

/// Mean and interval; none where no seed has a number, or where one's is not finite: a run that diverged must not
/// vanish from a mean.
std::optional<Estimate> summary(const BySeed& values);
/// The difference a - b where both are there, seed by seed.
BySeed difference(const BySeed& a, const BySeed& b);
std::int64_t seeds_in(const BySeed& values);

struct NumberKey {
  std::string task, line, name;
  std::int64_t length = 0, place = -1;
};

class Numbers {
 public:
  /// Reads the finished trials of a run. Where a task's main number comes by place only (depths), their mean is added
  /// as place -1.
  Numbers(Store& store, const StoredRun& run, const std::vector<StoredTrial>& trials);

  /// All, ordered by task and line as the run has them, then by name, length and place.
  const std::vector<std::pair<NumberKey, BySeed>>& all() const { return all_; }
  /// Empty where there is none.
  const BySeed& at(const std::string& task, const std::string& line, const std::string& name, std::int64_t length,
                   std::int64_t place = -1) const;
  /// The task's main number at a length.
  const BySeed& main_at(const Json& task, const std::string& line, std::int64_t length) const;
  /// Its mean over the lengths beyond the training length, seed by seed; empty where there are none.
  BySeed main_beyond(const Json& task, const std::string& line) const;

 private:
  using Index = std::map<std::tuple<std::string, std::string, std::string, std::int64_t, std::int64_t>, BySeed>;
  void add_means_over_places(const Json& task, std::size_t seeds);
  void order(const Json& header);

  Index index_;
  std::vector<std::pair<NumberKey, BySeed>> all_;
};

}  // namespace locus::lab
