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

}  // namespace locus::lab
