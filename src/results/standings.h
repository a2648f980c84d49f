// SPDX-License-Identifier: Apache-2.0
// Determines which lines lead in a task, and whether the seeds decide it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "results/results.h"

namespace locus::results {

/// A range of a task's lengths: the trained one, or all longer ones.
enum class Range { trained, beyond };

/// Returns the range in which a task ranks its lines: beyond the trained length, or at it if nothing longer was tested.
Range ranked_range(const Task& task);

/// Returns the task's main number, averaged per seed over the lengths of the range. Empty if a length has no number, or
/// one that is not finite.
BySeed averages(const Results& results, const Task& task, Range range, const std::string& line);

struct Standing {
  std::string line;
  Estimate score;
  std::int64_t rank = 1;               ///< one more than the number of lines with a better mean: equals share a rank
  std::optional<Estimate> difference;  ///< from the first, over the seeds that both have; absent for the first
  bool leads = false;  ///< the first, or the interval of the difference contains 0; with one seed only the first leads
};

struct Candidate {
  std::string line;
  BySeed values;
};

/// Sorts by mean, best first; equals keep their order. Candidates without an estimate are omitted.
std::vector<Standing> ranked(std::vector<Candidate> candidates, bool higher_is_better);

/// Ranks the lines that learned the task by their averages.
std::vector<Standing> standings(const Results& results, const Task& task, Range range,
                                const std::vector<std::string>& lines);

/// True if at least two lines have at least two seeds.
bool can_tell(const std::vector<Standing>& standings);

/// Returns the part of an interval that the task's main number can reach: 0 to 1 for a share, from 0 for a loss.
/// Student's t does not have such bounds.
Estimate shown(const Task& task, Estimate estimate);
bool is_cut(const Task& task, const Estimate& estimate);  ///< true if shown() omits a part

}  // namespace locus::results
