// SPDX-License-Identifier: Apache-2.0
// Who is ahead in a task, and whether the seeds can tell: the arithmetic under the report's answer.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "figures/report/results.h"

namespace locus::figures {

/// A mean over seeds with its 95 % interval by Student's t, which one seed does not have.
struct Mean {
  double value = 0;
  std::optional<double> low, high;
  std::size_t seeds = 0;
};

/// Nothing for no values.
std::optional<Mean> mean_of(std::span<const double> values);

/// What is shown of the interval of a task's main number: no more than the number can be, 0 to 1 for a share and from 0
/// on for a loss. Student's t knows no such ends.
Mean shown(const ResultTask& task, Mean mean);
bool is_cut(const ResultTask& task, const Mean& mean);  ///< whether that leaves some of it out
/// For the caption then.
inline const std::string cut_words =
    " Intervals are cut where the number can go no further; the charts' data has them whole.";

/// Which of the lengths of a task: the one trained at, or all above it.
enum class Range { trained, beyond };

/// A number for every seed; nothing where there is none.
using PerSeed = std::vector<std::optional<double>>;

/// The task's main number, averaged over the lengths of the range; empty where a length is missing.
PerSeed averages(const Results& results, const ResultTask& task, Range range, const std::string& line);

struct Standing {
  std::string line;
  Mean mean;
  std::optional<Mean> difference;  ///< from the best, over the seeds that both have; nothing for the best itself
  bool leads = false;              ///< the best, or the interval of the difference holds 0; false for all others
};

struct Candidate {
  std::string line;
  PerSeed values;
};

/// Best mean first; those without any value are left out.
std::vector<Standing> ranked(std::vector<Candidate> candidates, bool higher_is_better);

/// The lines that learned the task, ranked by their averages. A line takes part where it has every length of the range
/// for at least one seed. `leads` needs two seeds: with one, only the best has it, and `can_tell` says that it means
/// little.
std::vector<Standing> standings(const Results& results, const ResultTask& task, Range range,
                                const std::vector<std::string>& lines);

/// Two seeds or more for at least two lines.
bool can_tell(const std::vector<Standing>& standings);

}  // namespace locus::figures
