// SPDX-License-Identifier: Apache-2.0
#include "figures/report/results_figures.h"

#include <iterator>

#include "results/in_language.h"

namespace locus::figures {

void append(std::vector<Figure>& figures, std::vector<Figure> more) {
  figures.insert(figures.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<Figure> task_figures(const results::Results& results, const results::Task& task, const Words& words) {
  std::vector<Figure> figures = length_figures(results, task, words);
  append(figures, grid_figures(results, task, words));
  append(figures, position_figures(results, task, words));
  append(figures, training_figures(results, task, words));
  return figures;
}

std::vector<Figure> results_figures(const results::Results& given, const Words& words) {
  const results::Results results = results::in_language(given, words);
  std::vector<Figure> figures = answer_figures(results, words);
  append(figures, beyond_figures(results, results::ranking_of(results), words));
  for (const results::Task& task : results.tasks) append(figures, task_figures(results, task, words));
  append(figures, cost_figures(results, words));
  return figures;
}

}  // namespace locus::figures
