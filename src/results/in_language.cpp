// SPDX-License-Identifier: Apache-2.0
#include "results/in_language.h"

#include "results/outcomes.h"
#include "results/paper_claims.h"

namespace locus::results {

Results in_language(Results results, const Words& words) {
  if (words.language() == Language::english) return results;
  for (Task& task : results.tasks) {
    task.title = words.phrase(task.title);
    task.measures = words.phrase(task.measures);
  }
  for (Line& line : results.lines) line.label = words.label(line.label);
  for (Outcome& outcome : results.outcomes) {
    const Task* task = results.find_task(outcome.task);
    if (task != nullptr && !outcome.reason.empty()) outcome.reason = reason_of(results, *task, outcome.line, words);
  }
  results.paper_claims = make_paper_claims(results, words);
  return results;
}

}  // namespace locus::results
