// SPDX-License-Identifier: Apache-2.0
// The ranking and the curves of finished trials, shown while a run continues.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/results.h"
#include "run/store.h"

namespace locus::lab {

/// Returns the part of collected results that can be compared fairly: the tasks and seeds whose trials have all ended.
/// Before the first of them is complete, the finished trials of the first task. Main numbers only, concluded.
results::Results finished_part(const results::Results& collected, const std::vector<StoredTrial>& trials);

/// The part of a terminal that a text may fill.
struct Screen {
  std::size_t width = 80;
  std::size_t height = 24;
  bool colour = false;
};

/// Formats the current ranking with the curve by length of the task that ended last, in at most `screen.height` lines
/// of at most `screen.width` columns. Long tables lose their last rows, wide ones their shortest lengths. Empty if
/// nothing is finished.
std::string answer_table(const results::Results& part, const std::string& task, const Screen& screen);

/// Formats "ranking after first, back (1 of 3 seeds): 1 T5 0.98, 2 RoPE 0.91, ..." with the first `most` lines.
std::string answer_line(const results::Results& part, std::size_t all_seeds, std::size_t most);

/// Returns the task of the last ended trial, in the order of the queue, whose numbers are in `part`; empty if there is
/// none.
std::string latest_task(const results::Results& part, const std::vector<StoredTrial>& trials);

/// Returns the number of complete tasks and seeds.
std::size_t milestones(const std::vector<StoredTrial>& trials);

}  // namespace locus::lab
