// SPDX-License-Identifier: Apache-2.0
#include "figures/report/standing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "figures/report/student_t.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

std::vector<double> present(const PerSeed& values) {
  std::vector<double> found;
  for (const std::optional<double>& value : values) {
    if (value) found.push_back(*value);
  }
  return found;
}

std::optional<Mean> paired_difference(const PerSeed& values, const PerSeed& best) {
  std::vector<double> differences;
  for (std::size_t seed = 0; seed < std::min(values.size(), best.size()); ++seed) {
    if (values[seed] && best[seed]) differences.push_back(*values[seed] - *best[seed]);
  }
  return mean_of(differences);
}

}  // namespace

std::optional<Mean> mean_of(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  Mean mean{.value = sum / count, .low = {}, .high = {}, .seeds = values.size()};
  if (values.size() < 2) return mean;
  for (const double value : values) squares += (value - mean.value) * (value - mean.value);
  const double reach = student_t(static_cast<int>(values.size()) - 1, 0.95) * std::sqrt(squares / (count - 1) / count);
  mean.low = mean.value - reach;
  mean.high = mean.value + reach;
  return mean;
}

Mean shown(const ResultTask& task, Mean mean) {
  const double most = task.is_loss ? std::numeric_limits<double>::infinity() : 1.0;
  // A mean outside was not a share after all; its interval still holds it.
  if (mean.low) mean.low = std::max(*mean.low, std::min(0.0, mean.value));
  if (mean.high) mean.high = std::min(*mean.high, std::max(most, mean.value));
  return mean;
}

bool is_cut(const ResultTask& task, const Mean& mean) {
  const Mean kept = shown(task, mean);
  return kept.low != mean.low || kept.high != mean.high;
}

PerSeed averages(const Results& results, const ResultTask& task, Range range, const std::string& line) {
  PerSeed sums;
  std::size_t wanted = 0, found = 0;
  for (const std::int64_t length : task.lengths) {
    if ((range == Range::trained) != (length == task.train_length) || length < task.train_length) continue;
    ++wanted;
    for (const ResultNumber& number : results.numbers) {
      if (number.task != task.name || number.line != line || number.name != task.main || number.length != length ||
          number.place != -1) {
        continue;
      }
      ++found;
      if (sums.empty()) sums.assign(number.values.size(), 0.0);
      require(sums.size() == number.values.size(), "the numbers of ", task.name, " and ", line,
              " have different counts of seeds");
      for (std::size_t seed = 0; seed < sums.size(); ++seed) {
        if (!number.values[seed]) sums[seed].reset();
        if (sums[seed]) *sums[seed] += *number.values[seed];
      }
    }
  }
  if (wanted == 0 || found != wanted) return {};
  for (std::optional<double>& sum : sums) {
    if (sum) *sum /= static_cast<double>(wanted);
  }
  return sums;
}

std::vector<Standing> ranked(std::vector<Candidate> candidates, bool higher_is_better) {
  struct Entry {
    Standing standing;
    PerSeed values;
  };
  std::vector<Entry> entries;
  for (Candidate& candidate : candidates) {
    const std::optional<Mean> mean = mean_of(present(candidate.values));
    if (!mean) continue;
    entries.push_back({{.line = std::move(candidate.line), .mean = *mean, .difference = {}, .leads = false},
                       std::move(candidate.values)});
  }
  std::stable_sort(entries.begin(), entries.end(), [&](const Entry& a, const Entry& b) {
    return higher_is_better ? a.standing.mean.value > b.standing.mean.value
                            : a.standing.mean.value < b.standing.mean.value;
  });
  std::vector<Standing> result;
  for (Entry& entry : entries) {
    Standing& standing = entry.standing;
    if (result.empty()) {
      standing.leads = true;
    } else if ((standing.difference = paired_difference(entry.values, entries.front().values))) {
      const Mean& difference = *standing.difference;
      standing.leads = difference.low && *difference.low <= 0 && *difference.high >= 0;
    }
    result.push_back(std::move(standing));
  }
  return result;
}

std::vector<Standing> standings(const Results& results, const ResultTask& task, Range range,
                                const std::vector<std::string>& lines) {
  std::vector<Candidate> candidates;
  for (const std::string& line : lines) {
    if (results.learned(task.name, line)) candidates.push_back({line, averages(results, task, range, line)});
  }
  return ranked(std::move(candidates), task.higher_is_better);
}

bool can_tell(const std::vector<Standing>& standings) {
  return std::count_if(standings.begin(), standings.end(),
                       [](const Standing& standing) { return standing.mean.seeds >= 2; }) >= 2;
}

}  // namespace locus::figures
