// SPDX-License-Identifier: Apache-2.0
#include "results/holding.h"

#include <algorithm>

#include "results/standings.h"

namespace locus::results {
namespace {

Holding holding_of(const std::optional<Estimate>& kept) {
  if (!kept) return Holding::fails;
  const double low = kept->low.value_or(kept->mean), high = kept->high.value_or(kept->mean);
  if (low >= holds_from) return Holding::holds;
  if (high < fails_below) return Holding::fails;
  return low >= fails_below && high < holds_from ? Holding::loses_part : Holding::open;
}

/// Returns every line that has a number at the longest length, finite or not, and whose scheme learned the task.
std::vector<HeldLine> held_lines(const Results& results, const Task& task) {
  std::vector<HeldLine> held;
  for (const Line& line : results.lines) {
    if (!results.learned(task.name, line.name)) continue;
    const Number* far = results.main_number(task, line.name, task.lengths.back());
    if (far == nullptr) continue;
    std::optional<Estimate> kept;
    if (far->estimate) {
      kept = estimate(share_kept(results, task, line.name));
      if (!kept) continue;  // no seed has both numbers
    }
    held.push_back({line.name, kept, holding_of(kept)});
  }
  return held;
}

Remedy remedy_of(const Results& results, const std::vector<HeldLine>& lines, const HeldLine& plain) {
  Remedy remedy{.scheme = plain.line, .stretched = {}, .tuned = {}, .is_open = plain.holding == Holding::open};
  for (const HeldLine& one : lines) {
    const Line& line = results.line(one.line);
    if (line.trained != plain.line || line.is_plain() || one.holding != Holding::holds) continue;
    (line.tuned ? remedy.tuned : remedy.stretched).push_back(line.name);
  }
  return remedy;
}

}  // namespace

BySeed share_kept(const Results& results, const Task& task, const std::string& line) {
  const Number* near = results.main_number(task, results.line(line).trained, task.trained_length);
  const Number* far = results.main_number(task, line, task.lengths.back());
  const std::optional<double> level = task.level();
  if (near == nullptr || far == nullptr || !near->estimate || !far->estimate || !level) return {};
  BySeed shares(std::min(near->values.size(), far->values.size()));
  for (std::size_t seed = 0; seed < shares.size(); ++seed) {
    if (!near->values[seed] || !far->values[seed] || *near->values[seed] == *level) continue;
    shares[seed] = (*far->values[seed] - *level) / (*near->values[seed] - *level);
  }
  return shares;
}

LengthAnswer length_answer(const Results& results, const Task& task) {
  LengthAnswer answer;
  answer.task = &task;
  answer.lines = held_lines(results, task);
  for (const HeldLine& one : answer.lines) {
    const std::size_t seeds = one.kept ? one.kept->seeds : answer.seeds;
    answer.seeds = answer.seeds == 0 ? seeds : std::min(answer.seeds, seeds);
    if (!results.line(one.line).is_plain()) continue;
    Remedy remedy = remedy_of(results, answer.lines, one);
    if (one.holding == Holding::holds) {
      answer.hold.push_back(one.line);
    } else if (!remedy.stretched.empty() || !remedy.tuned.empty()) {
      answer.remedied.push_back(std::move(remedy));
    } else if (one.holding == Holding::loses_part) {
      answer.lose_part.push_back(one.line);
    } else {
      (one.holding == Holding::fails ? answer.fail : answer.open).push_back(one.line);
    }
  }
  for (const Line& line : results.lines) {
    const Outcome* outcome = line.is_plain() ? results.outcome(task.name, line.name) : nullptr;
    if (outcome != nullptr && !outcome->learned) answer.not_learned.push_back(line.name);
  }
  return answer;
}

const Task* opening_task(const Results& results) {
  const Task* first = nullptr;
  for (const Task& task : results.tasks) {
    if (ranked_range(task) != Range::beyond) continue;
    if (task.is_loss) return &task;
    if (first == nullptr) first = &task;
  }
  return first;
}

}  // namespace locus::results
