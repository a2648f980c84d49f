// SPDX-License-Identifier: Apache-2.0
// A bar on standard error, drawn only where that is a terminal.
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

  /// Draws `done` of `all` steps; a part of a step moves the bar too.
  void show(double done, std::size_t all, const std::string& what);
  /// Takes the bar away, before anything else is printed.
  void clear();

 private:
  bool terminal_;
  std::string shown_;
};

}  // namespace locus::tools
