// SPDX-License-Identifier: Apache-2.0
#include "results/units.h"

#include <array>
#include <cmath>

#include "locus/text.h"

namespace locus::results {

std::string duration(double seconds) {
  if (seconds < 60) return significant(seconds, 2) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return grouped(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

std::string bytes(double count) {
  constexpr std::array<const char*, 5> units = {"B", "kB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (count >= 999.5 && unit + 1 < units.size()) {
    count /= 1000;
    ++unit;
  }
  return significant(count, 3) + " " + units[unit];
}

}  // namespace locus::results
