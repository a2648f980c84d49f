// SPDX-License-Identifier: Apache-2.0
// What holds beyond the trained length, by rules over the main number. docs/results-format.md states them.
#pragma once

#include <string>
#include <vector>

#include "results/results.h"

namespace locus::results {

/// Shares of what was learned. A line that keeps at least `holds_from` holds; one that keeps less than `fails_below`
/// fails.
inline constexpr double holds_from = 0.9;
inline constexpr double fails_below = 0.5;

enum class Holding {
  holds,
  loses_part,
  fails,
  open,  ///< the interval contains one of the two bars
};

/// Returns the share of what its scheme learned that a line keeps at the longest length, seed by seed: (its number
/// there
/// - level) / (the number of the plain line at the trained length - level). Empty if a number is missing or not finite.
BySeed share_kept(const Results& results, const Task& task, const std::string& line);

struct HeldLine {
  std::string line;
  std::optional<Estimate> kept;  ///< absent if a number beyond the trained length is not finite; the line then fails
  Holding holding = Holding::open;
};

/// A scheme that does not hold as trained, and its lines that do.
struct Remedy {
  std::string scheme;
  std::vector<std::string> stretched, tuned;
  bool is_open = false;  ///< the seeds do not decide whether the plain line holds
};

/// Which schemes hold at the longest length of a task. Schemes and lines keep the order of the results.
struct LengthAnswer {
  const Task* task = nullptr;                            ///< null if nothing was tested beyond a trained length
  std::vector<HeldLine> lines;                           ///< every line whose scheme learned the task
  std::vector<std::string> hold, lose_part, fail, open;  ///< schemes without a remedy
  std::vector<Remedy> remedied;
  std::vector<std::string> not_learned;
  std::size_t seeds = 0;  ///< the smallest number of seeds of a line

  std::size_t judged() const { return hold.size() + lose_part.size() + fail.size() + open.size() + remedied.size(); }
  std::int64_t longest() const { return task->lengths.back(); }
};

LengthAnswer length_answer(const Results& results, const Task& task);

/// Returns the task that a report begins with: the first with a loss that is tested beyond the trained length, or else
/// the first that is tested there; null if there is none.
const Task* opening_task(const Results& results);

}  // namespace locus::results
