// SPDX-License-Identifier: Apache-2.0
// What holds beyond the trained length, by rules over the main number. docs/results-format.md states them.
#pragma once

#include <string>
#include <vector>

#include "results/results.h"

namespace locus::results {

/// Shares of what was learned: at least `holds_from` of it kept, a line holds; less than `fails_below`, it fails.
inline constexpr double holds_from = 0.9;
inline constexpr double fails_below = 0.5;

enum class Holding {
  holds,
  loses_part,
  fails,
  open,  ///< the interval contains one of the two bars
};

/// How much of what its scheme learned a line keeps at the longest length, seed by seed: (its number there - level) /
/// (the number of the scheme as trained, at the trained length - level). Empty where a number is missing or not finite.
BySeed share_kept(const Results& results, const Task& task, const std::string& line);

struct HeldLine {
  std::string line;
  std::optional<Estimate> kept;  ///< absent where a number beyond the trained length is not finite: fails
  Holding holding = Holding::open;
};

/// A scheme that does not hold as trained, and its lines that do.
struct Remedy {
  std::string scheme;
  std::vector<std::string> stretched, tuned;
  bool is_open = false;  ///< the seeds leave it open whether the scheme holds as trained
};

/// What happens at the longest length of a task. Schemes and lines have the order of the results.
struct LengthAnswer {
  const Task* task = nullptr;                            ///< null where nothing was tested beyond a trained length
  std::vector<HeldLine> lines;                           ///< every line whose scheme learned the task
  std::vector<std::string> hold, lose_part, fail, open;  ///< schemes as trained, those with a remedy left out
  std::vector<Remedy> remedied;
  std::vector<std::string> not_learned;
  std::size_t seeds = 0;  ///< the fewest that a line's number is over

  std::size_t judged() const { return hold.size() + lose_part.size() + fail.size() + open.size() + remedied.size(); }
  std::int64_t longest() const { return task->lengths.back(); }
};

LengthAnswer length_answer(const Results& results, const Task& task);

/// The task that a report opens with: the first that is measured by a loss and tested beyond the trained length, else
/// the first tested there; null where none was.
const Task* opening_task(const Results& results);

}  // namespace locus::results
