// SPDX-License-Identifier: Apache-2.0
// Shows the progress of a run on standard error. A terminal gets one table that is redrawn in place: the current
// answer, the running trials and a bar. A file gets a line per trial that ended, and the ranking whenever a task is
// complete for a seed.
#pragma once

#include <functional>
#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "run/answer.h"
#include "run/store.h"
#include "run/timing.h"

namespace locus::lab {

struct ProgressOptions {
  int workers = 1;
  Timing timing = {};  ///< from earlier trials; trials that finish are added
  std::function<results::Results()>
      collect;  ///< returns what the store holds; called when a trial has ended. May be absent
  bool terminal = false;
  std::function<Screen()> screen = {};  ///< called before each drawing; absent: 80 columns, 24 lines, no colour
};

/// Returns the options for standard error, a terminal or not. Honours NO_COLOR and TERM=dumb.
ProgressOptions progress_options();

class Progress {
 public:
  Progress(ProgressOptions options, std::ostream& out);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::vector<StoredTrial>& trials);
  /// Removes the live table before anything else is printed.
  void clear();
  /// The same for a run that was stopped: on a terminal the current answer stays.
  void stop();

 private:
  void draw(const std::string& text);
  void report_ends(const std::vector<StoredTrial>& trials);
  void report_milestone(const std::vector<StoredTrial>& trials);
  Screen screen() const { return options_.screen ? options_.screen() : Screen(); }

  ProgressOptions options_;
  std::ostream& out_;
  bool first_ = true;
  std::set<std::string> ended_;
  std::size_t milestones_ = 0;
  results::Results part_;  ///< of finished trials
  std::string task_;       ///< whose curve is shown
  std::string shown_;
};

/// Formats the running trials, how many of each task are done, and a bar with the time left.
std::string work_table(const std::vector<StoredTrial>& trials, const Timing& timing, int workers, const Screen& screen);

}  // namespace locus::lab
