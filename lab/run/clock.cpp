// SPDX-License-Identifier: Apache-2.0
#include "run/clock.h"

#include <array>
#include <chrono>
#include <cmath>
#include <ctime>

namespace locus::lab {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string iso_time(double time) {
  const auto whole = static_cast<std::time_t>(std::floor(time));
  std::tm parts{};
  gmtime_r(&whole, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string duration(double seconds) {
  const auto whole = static_cast<long long>(std::ceil(std::max(seconds, 0.0)));
  if (whole < 60) return std::to_string(whole) + " s";
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace locus::lab
