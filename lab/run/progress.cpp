// SPDX-License-Identifier: Apache-2.0
#include "run/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <ostream>

#include "locus/text.h"
#include "results/units.h"
#include "run/text_table.h"

namespace locus::lab {
namespace {

using Trials = std::vector<StoredTrial>;

std::string name_of(const StoredTrial& trial) {
  return trial.spec.task + ' ' + trial.spec.scheme + ", seed " + std::to_string(trial.spec.seed);
}

/// Formats "trials done: first 24/24, back 3/24", with tasks in the order of the queue.
std::string counts(const Trials& trials) {
  struct Count {
    std::string task;
    int done = 0, all = 0;
  };
  std::vector<Count> tasks;
  for (const StoredTrial& trial : trials) {
    auto task = std::find_if(tasks.begin(), tasks.end(), [&](const Count& one) { return one.task == trial.spec.task; });
    if (task == tasks.end()) task = tasks.insert(task, {trial.spec.task});
    ++task->all;
    task->done += has_ended(trial) ? 1 : 0;
  }
  const auto failed = std::count_if(trials.begin(), trials.end(),
                                    [](const StoredTrial& one) { return one.state == TrialState::failed; });
  return "trials done: " +
         joined(tasks, ", ",
                [](const Count& one) {
                  return one.task + " " + std::to_string(one.done) + "/" + std::to_string(one.all);
                }) +
         (failed > 0 ? "; failed: " + std::to_string(failed) : "");
}

std::string bar(const Trials& trials, const Timing& timing, int workers, std::size_t width) {
  double done = 0;
  for (const StoredTrial& trial : trials) {
    done += has_ended(trial) ? 1 : trial.state == TrialState::leased ? std::clamp(trial.done, 0.0, 1.0) : 0;
  }
  const double share = trials.empty() ? 1 : done / static_cast<double>(trials.size());
  std::string text = "] " + std::to_string(static_cast<int>(share * 100)) + " %";
  if (const std::optional<double> left = work_left(trials, timing)) {
    text += ", about " + results::duration(std::ceil(*left / workers)) + " left";
  }
  const std::size_t room = std::min<std::size_t>(40, width > text.size() + 1 ? width - text.size() - 1 : 0);
  const auto full = static_cast<std::size_t>(share * static_cast<double>(room));
  return '[' + std::string(full, '#') + std::string(room - full, '.') + text;
}

/// Moves the cursor from below a text to its start.
std::string up(const std::string& text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  return lines > 0 ? "\033[" + std::to_string(lines) + "A\r" : "";
}

Screen terminal_screen() {
  winsize size = {};
  Screen screen;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0) {
    screen.width = size.ws_col;
    screen.height = size.ws_row;
  }
  const char* no_colour = std::getenv("NO_COLOR");
  screen.colour = no_colour == nullptr || *no_colour == '\0';
  return screen;
}

}  // namespace

ProgressOptions progress_options() {
  const char* kind = std::getenv("TERM");
  const bool dumb = kind == nullptr || std::strcmp(kind, "dumb") == 0;
  ProgressOptions options;
  options.terminal = isatty(STDERR_FILENO) != 0 && !dumb;
  options.screen = terminal_screen;
  return options;
}

std::string work_table(const Trials& trials, const Timing& timing, int workers, const Screen& screen) {
  std::vector<std::string> lines;
  for (const StoredTrial& trial : trials) {
    if (trial.state != TrialState::leased) continue;
    lines.push_back("  " + name_of(trial) + ": " + std::to_string(static_cast<int>(trial.done * 100)) + " %");
  }
  const std::size_t room = screen.height > 2 ? screen.height - 2 : 0;
  if (lines.size() > room) lines.resize(room);
  if (screen.height > 1) lines.push_back(counts(trials));
  lines.push_back(bar(trials, timing, workers, screen.width));
  std::string text;
  for (const std::string& line : lines) text += shortened(line, screen.width) + '\n';
  return text;
}

Progress::Progress(ProgressOptions options, std::ostream& out) : options_(std::move(options)), out_(out) {}

void Progress::show(const Trials& trials) {
  const std::size_t before = ended_.size();
  report_ends(trials);
  if (options_.collect && ended_.size() != before) {
    part_ = finished_part(options_.collect(), trials);
    task_ = latest_task(part_, trials);
    report_milestone(trials);
  }
  first_ = false;
  if (!options_.terminal) return;
  Screen screen = this->screen();
  screen.width -= screen.width > 1 ? 1 : 0;    // a full last column would wrap
  screen.height -= screen.height > 1 ? 1 : 0;  // the cursor is below the table
  Screen for_work = screen;
  for_work.height = std::min<std::size_t>(screen.height, 8);
  const std::string work = work_table(trials, options_.timing, options_.workers, for_work);
  const auto used = static_cast<std::size_t>(std::count(work.begin(), work.end(), '\n'));
  screen.height -= std::min(screen.height, used);
  draw(answer_table(part_, task_, screen).append(work));
}

/// Overwrites the table line by line: erasing it first would flicker, and fill the history of some terminals.
void Progress::draw(const std::string& text) {
  if (text == shown_) return;
  std::string drawn = up(shown_);
  for (const std::string& line : lines_in(text)) drawn += line + "\033[K\n";
  out_ << drawn << "\033[J" << std::flush;
  shown_ = text;
}

void Progress::report_ends(const Trials& trials) {
  const auto reused = std::count_if(trials.begin(), trials.end(), has_ended);
  if (first_ && reused > 0) out_ << reused << " of " << trials.size() << " trials are done already\n";
  for (const StoredTrial& trial : trials) {
    if (!has_ended(trial) || !ended_.insert(trial.key).second || first_) continue;
    if (trial.state == TrialState::finished) options_.timing.add(trial.spec, trial.seconds);
    if (options_.terminal && trial.state == TrialState::finished) continue;
    clear();
    out_ << '[' << ended_.size() << '/' << trials.size() << "] " << name_of(trial) << ": ";
    if (trial.state == TrialState::finished) {
      out_ << fixed(trial.seconds, 1) << " s\n";
    } else {
      out_ << "failed: " << trial.error << '\n';
    }
    out_ << std::flush;
  }
}

/// Not for trials finished before this run, and not at the end: the summary follows.
void Progress::report_milestone(const Trials& trials) {
  const std::size_t reached = milestones(trials);
  const bool is_new = reached > milestones_ && !first_;
  milestones_ = reached;
  if (!is_new || options_.terminal || ended_.size() == trials.size()) return;
  std::set<std::int64_t> seeds;
  for (const StoredTrial& trial : trials) seeds.insert(trial.spec.seed);
  out_ << answer_line(part_, seeds.size(), 5) << std::endl;
}

void Progress::clear() {
  if (!shown_.empty()) out_ << up(shown_) << "\033[J" << std::flush;
  shown_.clear();
}

void Progress::stop() {
  clear();
  if (!options_.terminal) return;
  Screen screen = this->screen();
  screen.width -= screen.width > 1 ? 1 : 0;
  out_ << answer_table(part_, task_, screen) << std::flush;
}

}  // namespace locus::lab
