// SPDX-License-Identifier: Apache-2.0
// The charts of a lab run. Every one is made of results.json alone; names start with the task's.
#pragma once

#include <string>
#include <vector>

#include "figures/figure.h"
#include "results/ranking.h"
#include "results/results.h"

namespace locus::figures {

/// The main number above the trained length with its interval, a panel per task, best on top; nothing where no line
/// learned a task.
std::vector<Figure> beyond_figures(const results::Results& results, const results::Ranking& answer);

/// Over the length: the main number, then whatever else was measured of whole sequences (agreement ...).
std::vector<Figure> length_figures(const results::Results& results, const results::Task& task);
/// Over the position inside the longest sequences.
std::vector<Figure> position_figures(const results::Results& results, const results::Task& task);
/// Over the steps of training; nothing where they were not kept.
std::vector<Figure> training_figures(const results::Results& results, const results::Task& task);
/// Depth by length, a panel per line; nothing where the task has no depths.
std::vector<Figure> grid_figures(const results::Results& results, const results::Task& task);
/// Time per training step, a panel per task; nothing where no time was taken.
std::vector<Figure> cost_figures(const results::Results& results);

void append(std::vector<Figure>& figures, std::vector<Figure> more);

/// All of one task that the four above give of it, in the order of the report.
std::vector<Figure> task_figures(const results::Results& results, const results::Task& task);
/// Every chart of these results, in the order of the report.
std::vector<Figure> results_figures(const results::Results& results);

}  // namespace locus::figures
