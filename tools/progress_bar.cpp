// SPDX-License-Identifier: Apache-2.0
#include "progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>

namespace locus::tools {

ProgressBar::ProgressBar() : terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(double done, std::size_t all, const std::string& what) {
  if (!terminal_ || all == 0) return;
  constexpr std::size_t width = 40;
  const double share = std::clamp(done / static_cast<double>(all), 0.0, 1.0);
  const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
  const std::string text = "[" + std::string(full, '#') + std::string(width - full, '.') + "] " +
                           std::to_string(static_cast<int>(share * 100)) + " % of " + what;
  if (text == shown_) return;
  std::cerr << "\r\033[K" << text << std::flush;
  shown_ = text;
}

void ProgressBar::clear() {
  if (!shown_.empty()) std::cerr << "\r\033[K" << std::flush;
  shown_.clear();
}

}  // namespace locus::tools
