// SPDX-License-Identifier: Apache-2.0
#include "figures/report/results_figures.h"

#include <iterator>

namespace locus::figures {

void append(std::vector<Figure>& figures, std::vector<Figure> more) {
  figures.insert(figures.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Figure> task_figures(const results::Results& results, const results::Task& task) {
  std::vector<Figure> figures = length_figures(results, task);
  append(figures, grid_figures(results, task));
  append(figures, position_figures(results, task));
  append(figures, training_figures(results, task));
  return figures;
}

std::vector<Figure> results_figures(const results::Results& results) {
  std::vector<Figure> figures = beyond_figures(results, results::ranking_of(results));
  for (const results::Task& task : results.tasks) append(figures, task_figures(results, task));
  append(figures, cost_figures(results));
  return figures;
}

}  // namespace locus::figures
