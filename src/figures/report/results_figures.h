// SPDX-License-Identifier: Apache-2.0
// The charts of a lab run's results. Names start with the name of the task. Results are in the language of the words
// (results/in_language.h) but for results_figures, which translates them.
#pragma once

#include <string>
#include <vector>

#include "figures/figure.h"
#include "figures/report/line_chart.h"
#include "results/ranking.h"
#include "results/results.h"

namespace locus::figures {

/// What the report opens with: the main number of its opening task over length, every line labelled at its end; empty
/// where no line has a number of it.
std::vector<Figure> answer_figures(const results::Results& results, const Words& words);

/// The main number beyond the trained length with its interval, a panel per task, best first; empty where no line
/// learned a task.
std::vector<Figure> beyond_figures(const results::Results& results, const results::Ranking& answer, const Words& words);

/// Over the length: the main number, then the other numbers of whole sequences (agreement ...).
std::vector<Figure> length_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Over the position inside the longest sequences.
std::vector<Figure> position_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Over training steps; empty where they were not recorded.
std::vector<Figure> training_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Depth by length, a panel per line; empty where the task has no depths.
std::vector<Figure> grid_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Time per training step, a panel per task; empty where no time was measured.
std::vector<Figure> cost_figures(const results::Results& results, const Words& words);

void append(std::vector<Figure>& figures, std::vector<Figure> more);

/// The length, grid, position and training figures of a task, in the order of the report.
std::vector<Figure> task_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Every chart of these results, in the order of the report.
std::vector<Figure> results_figures(const results::Results& results, const Words& words = Words());

/// A chart of a number over length: its texts and scales, and its points.
LineChart length_chart(const results::Results& results, const results::Task& task, const std::string& name,
                       const Words& words);
std::vector<LinePoint> length_points(const results::Results& results, const results::Task& task,
                                     const std::string& name);

}  // namespace locus::figures
