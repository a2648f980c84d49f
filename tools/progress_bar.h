// SPDX-License-Identifier: Apache-2.0
// A progress bar on standard error, drawn only on a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace locus::tools {

class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws `done` of `all` steps; `done` may be a fraction.
  void show(double done, std::size_t all, const std::string& what);
  /// Removes the bar. Call it before printing anything else.
  void clear();

 private:
  bool terminal_;
  std::string shown_;
};

}  // namespace locus::tools
