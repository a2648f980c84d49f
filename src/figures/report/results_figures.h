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

/// Draws the first chart of the report: the main number of its first task by length, every line labelled at its end.
/// Empty if no line has such a number.
std::vector<Figure> answer_figures(const results::Results& results, const Words& words);

/// Draws the main number beyond the trained length with its interval, a panel per task, best first. Empty if no line
/// learned a task.
std::vector<Figure> beyond_figures(const results::Results& results, const results::Ranking& answer, const Words& words);

/// Draws numbers by length: the main number, then the other numbers of whole sequences (agreement ...).
std::vector<Figure> length_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Draws numbers by position in the longest sequences.
std::vector<Figure> position_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Draws the loss by training step; empty if it was not recorded.
std::vector<Figure> training_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Draws depth by length, a panel per line; empty if the task has no depths.
std::vector<Figure> grid_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Draws the time per training step, a panel per task; empty if no time was measured.
std::vector<Figure> cost_figures(const results::Results& results, const Words& words);

void append(std::vector<Figure>& figures, std::vector<Figure> more);

/// Draws the length, grid, position and training figures of a task, in the order of the report.
std::vector<Figure> task_figures(const results::Results& results, const results::Task& task, const Words& words);
/// Draws every chart of these results, in the order of the report.
std::vector<Figure> results_figures(const results::Results& results, const Words& words = Words());

/// A chart of a number by length: its texts and scales, and its points.
LineChart length_chart(const results::Results& results, const results::Task& task, const std::string& name,
                       const Words& words);
std::vector<LinePoint> length_points(const results::Results& results, const results::Task& task,
                                     const std::string& name);

}  // namespace locus::figures
