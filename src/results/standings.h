// SPDX-License-Identifier: Apache-2.0
// Who is ahead in a task, and whether the seeds can tell.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/results.h"

namespace locus::results {

/// Which of a task's lengths: the trained one, or all longer ones.
enum class Range { trained, beyond };

/// Where a task ranks its lines: beyond the trained length, or at it where nothing longer was tested.
Range ranked_range(const Task& task);

/// The task's main number, averaged seed by seed over the lengths of the range. Empty where a length has no number or
/// its number is not finite.
BySeed averages(const Results& results, const Task& task, Range range, const std::string& line);

struct Standing {
  std::string line;
  Estimate score;
  std::int64_t rank = 1;               ///< one more than the lines with a better mean: equals share a rank
  std::optional<Estimate> difference;  ///< from the first, over the seeds that both have; absent for the first
  bool leads = false;  ///< the first, or the interval of the difference holds 0; with one seed only the first leads
};

struct Candidate {
  std::string line;
  BySeed values;
};

/// Best mean first; equals keep their order. Candidates without an estimate are left out.
std::vector<Standing> ranked(std::vector<Candidate> candidates, bool higher_is_better);

/// Those of these lines that learned the task, ranked by their averages.
std::vector<Standing> standings(const Results& results, const Task& task, Range range,
                                const std::vector<std::string>& lines);

/// At least two lines have two seeds or more.
bool can_tell(const std::vector<Standing>& standings);

/// The part of an interval that the task's main number can reach: 0 to 1 for a share, from 0 for a loss. Student's t
/// knows no such bounds.
Estimate shown(const Task& task, Estimate estimate);
bool is_cut(const Task& task, const Estimate& estimate);  ///< whether that leaves some of it out

}  // namespace locus::results
