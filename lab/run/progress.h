// SPDX-License-Identifier: Apache-2.0
// What a run says while it goes on, on standard error: a live table with a bar on a terminal, else a line per trial.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "run/store.h"
#include "run/timing.h"

namespace locus::lab {

class Progress {
 public:
  /// `timing` is what is known from before; trials that finish are added to it.
  Progress(int workers, Timing timing);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::vector<StoredTrial>& trials);
  /// Takes the live table away, before anything else is printed.
  void clear();

 private:
  void note_ends(const std::vector<StoredTrial>& trials);

  bool terminal_;
  int workers_;
  Timing timing_;
  bool first_ = true;
  std::set<std::string> ended_;
  std::string shown_;
};

/// The live table: a row per task, the trials at work, and a bar with the time left.
std::string live_table(const std::vector<StoredTrial>& trials, const Timing& timing, int workers);

}  // namespace locus::lab
