// SPDX-License-Identifier: Apache-2.0
#include "results/standings.h"

#include <algorithm>
#include <limits>

#include "locus/error.h"

namespace locus::results {

Range ranked_range(const Task& task) {
  const bool longer = std::any_of(task.lengths.begin(), task.lengths.end(),
                                  [&](std::int64_t length) { return length > task.trained_length; });
  return longer ? Range::beyond : Range::trained;
}

BySeed averages(const Results& results, const Task& task, Range range, const std::string& line) {
  std::vector<const BySeed*> all;
  for (const std::int64_t length : task.lengths) {
    if (range == Range::trained ? length != task.trained_length : length <= task.trained_length) continue;
    const Number* number = results.main_number(task, line, length);
    if (number == nullptr || !number->estimate) return {};
    require(all.empty() || all.front()->size() == number->values.size(), "the numbers of ", task.name, " and ", line,
            " have different counts of seeds");
    all.push_back(&number->values);
  }
  return mean_by_seed(all);
}

std::vector<Standing> ranked(std::vector<Candidate> candidates, bool higher_is_better) {
  struct Entry {
    Standing standing;
    BySeed values;
  };
  std::vector<Entry> entries;
  for (Candidate& candidate : candidates) {
    const std::optional<Estimate> score = estimate(candidate.values);
    if (!score) continue;
    entries.push_back(
        {{.line = std::move(candidate.line), .score = *score, .difference = {}}, std::move(candidate.values)});
  }
  const auto is_better = [&](const Entry& a, const Entry& b) {
    const double one = a.standing.score.mean, other = b.standing.score.mean;
    return higher_is_better ? one > other : one < other;
  };
  std::stable_sort(entries.begin(), entries.end(), is_better);
  std::vector<Standing> result;
  for (std::size_t place = 0; place < entries.size(); ++place) {
    Standing& standing = entries[place].standing;
    const bool tied = place > 0 && !is_better(entries[place - 1], entries[place]);
    standing.rank = tied ? result.back().rank : static_cast<std::int64_t>(place) + 1;
    standing.leads = place == 0;
    if (place > 0) {
      standing.difference = estimate(difference(entries[place].values, entries.front().values));
      const std::optional<Estimate>& from_first = standing.difference;
      standing.leads = from_first && from_first->low && *from_first->low <= 0 && *from_first->high >= 0;
    }
    result.push_back(std::move(standing));
  }
  return result;
}

std::vector<Standing> standings(const Results& results, const Task& task, Range range,
                                const std::vector<std::string>& lines) {
  std::vector<Candidate> candidates;
  for (const std::string& line : lines) {
    if (results.learned(task.name, line)) candidates.push_back({line, averages(results, task, range, line)});
  }
  return ranked(std::move(candidates), task.higher_is_better);
}

bool can_tell(const std::vector<Standing>& standings) {
  return std::count_if(standings.begin(), standings.end(),
                       [](const Standing& standing) { return standing.score.seeds >= 2; }) >= 2;
}

Estimate shown(const Task& task, Estimate estimate) {
  const double most = task.is_loss ? std::numeric_limits<double>::infinity() : 1.0;
  // A mean out of bounds is not a share; its interval still contains it.
  if (estimate.low) estimate.low = std::max(*estimate.low, std::min(0.0, estimate.mean));
  if (estimate.high) estimate.high = std::min(*estimate.high, std::max(most, estimate.mean));
  return estimate;
}

bool is_cut(const Task& task, const Estimate& estimate) {
  const Estimate kept = shown(task, estimate);
  return kept.low != estimate.low || kept.high != estimate.high;
}

}  // namespace locus::results
