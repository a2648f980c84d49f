// SPDX-License-Identifier: Apache-2.0
// The charts of a lab run's results. Names start with the name of the task.
#pragma once

#include <string>
#include <vector>

#include "figures/figure.h"
#include "results/ranking.h"
#include "results/results.h"

namespace locus::figures {

/// The main number beyond the trained length with its interval, a panel per task, best first; empty where no line
/// learned a task.
std::vector<Figure> beyond_figures(const results::Results& results, const results::Ranking& answer);

/// Over the length: the main number, then the other numbers of whole sequences (agreement ...).
std::vector<Figure> length_figures(const results::Results& results, const results::Task& task);
/// Over the position inside the longest sequences.
std::vector<Figure> position_figures(const results::Results& results, const results::Task& task);
/// Over training steps; empty where they were not recorded.
std::vector<Figure> training_figures(const results::Results& results, const results::Task& task);
/// Depth by length, a panel per line; empty where the task has no depths.
std::vector<Figure> grid_figures(const results::Results& results, const results::Task& task);
/// Time per training step, a panel per task; empty where no time was measured.
std::vector<Figure> cost_figures(const results::Results& results);

void append(std::vector<Figure>& figures, std::vector<Figure> more);

/// The length, grid, position and training figures of a task, in the order of the report.
std::vector<Figure> task_figures(const results::Results& results, const results::Task& task);
/// Every chart of these results, in the order of the report.
std::vector<Figure> results_figures(const results::Results& results);

}  // namespace locus::figures
