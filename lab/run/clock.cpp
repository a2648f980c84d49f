// SPDX-License-Identifier: Apache-2.0
#include "run/clock.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <ctime>

#include "locus/error.h"

namespace locus::lab {

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string iso_time(double time) {
  const auto whole = static_cast<std::time_t>(std::floor(time));
  std::tm parts{};
  gmtime_r(&whole, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

double end_time(const std::string& text, double now) {
  std::tm parts{};
  const char* const rest = strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  if (rest != nullptr && *rest == '\0') return static_cast<double>(timegm(&parts));
  long count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string unit(end, text.data() + text.size());
  const double seconds = unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86400 : 0;
  require(error == std::errc() && count > 0 && seconds > 0,
          "a time must be like 90s, 30m, 12h, 2d or 2025-03-01T12:00:00Z, got \"", text, "\"");
  return now + static_cast<double>(count) * seconds;
}

}  // namespace locus::lab
