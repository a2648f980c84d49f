// SPDX-License-Identifier: Apache-2.0
#include "run/progress.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "run/clock.h"

namespace locus::lab {
namespace {

using Trials = std::vector<StoredTrial>;

bool has_ended(const StoredTrial& trial) {
  return trial.state == TrialState::finished || trial.state == TrialState::failed;
}

std::string name_of(const StoredTrial& trial) {
  return trial.spec.task + ' ' + trial.spec.scheme + ", seed " + std::to_string(trial.spec.seed);
}

/// Trials by state, per task, in the order in which tasks come.
struct TaskRow {
  std::string task;
  std::array<int, 4> counts = {};
};
std::vector<TaskRow> rows_of(const Trials& trials) {
  std::vector<TaskRow> rows;
  for (const StoredTrial& trial : trials) {
    auto row = std::find_if(rows.begin(), rows.end(), [&](const TaskRow& one) { return one.task == trial.spec.task; });
    if (row == rows.end()) row = rows.insert(row, {trial.spec.task, {}});
    ++row->counts[static_cast<std::size_t>(trial.state)];
  }
  return rows;
}

std::string bar(const Trials& trials, const Timing& timing, int workers) {
  constexpr double width = 40;
  double done = 0;
  for (const StoredTrial& trial : trials) {
    done += has_ended(trial) ? 1 : trial.state == TrialState::claimed ? std::clamp(trial.done, 0.0, 1.0) : 0;
  }
  const double share = trials.empty() ? 1 : done / static_cast<double>(trials.size());
  const auto full = static_cast<std::size_t>(share * width);
  std::ostringstream text;
  text << '[' << std::string(full, '#') << std::string(static_cast<std::size_t>(width) - full, '.') << "] "
       << static_cast<int>(share * 100) << " %";
  if (const std::optional<double> left = work_left(trials, timing)) {
    text << ", about " << duration(*left / workers) << " left";
  }
  return text.str();
}

}  // namespace

std::string live_table(const Trials& trials, const Timing& timing, int workers) {
  std::ostringstream text;
  text << std::left << std::setw(12) << "task" << std::right << std::setw(9) << "waiting" << std::setw(9) << "running"
       << std::setw(9) << "done" << std::setw(9) << "failed" << '\n';
  for (const TaskRow& row : rows_of(trials)) {
    text << std::left << std::setw(12) << row.task << std::right;
    for (const int count : row.counts) text << std::setw(9) << count;
    text << '\n';
  }
  for (const StoredTrial& trial : trials) {
    if (trial.state != TrialState::claimed) continue;
    text << "  " << name_of(trial) << ": " << static_cast<int>(trial.done * 100) << " %\n";
  }
  text << bar(trials, timing, workers) << '\n';
  return text.str();
}

Progress::Progress(int workers, Timing timing)
    : terminal_(isatty(STDERR_FILENO) != 0), workers_(workers), timing_(std::move(timing)) {}

void Progress::show(const Trials& trials) {
  note_ends(trials);
  first_ = false;
  if (!terminal_) return;
  const std::string text = live_table(trials, timing_, workers_);
  if (text == shown_) return;
  clear();
  std::cerr << text << std::flush;
  shown_ = text;
}

void Progress::note_ends(const Trials& trials) {
  const auto reused = std::count_if(trials.begin(), trials.end(), has_ended);
  if (first_ && reused > 0) {
    std::cerr << reused << " of " << trials.size() << " trials are done already\n";
  }
  for (const StoredTrial& trial : trials) {
    if (!has_ended(trial) || !ended_.insert(trial.key).second || first_) continue;
    if (trial.state == TrialState::finished) timing_.add(trial.spec, trial.seconds);
    if (terminal_ && trial.state == TrialState::finished) continue;
    clear();
    std::cerr << '[' << ended_.size() << '/' << trials.size() << "] " << name_of(trial) << ": ";
    if (trial.state == TrialState::finished) {
      std::cerr << std::fixed << std::setprecision(1) << trial.seconds << " s\n";
    } else {
      std::cerr << "failed: " << trial.error << '\n';
    }
  }
}

void Progress::clear() {
  const auto lines = std::count(shown_.begin(), shown_.end(), '\n');
  if (lines > 0) std::cerr << "\033[" << lines << "A\r\033[J" << std::flush;
  shown_.clear();
}

}  // namespace locus::lab
