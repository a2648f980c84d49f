// SPDX-License-Identifier: Apache-2.0
#include "terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace locus::tools {

std::int64_t terminal_width() {
  std::int64_t width = 0;
  if (const char* columns = std::getenv("COLUMNS")) width = std::strtol(columns, nullptr, 10);
  winsize size{};
  if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  if (width <= 0) width = 80;
  return std::clamp<std::int64_t>(width, 40, 1000);
}

namespace {

Colour wanted_colour = Colour::automatic;

}  // namespace

void use_colour(Colour colour) { wanted_colour = colour; }

bool colours_output() {
  if (wanted_colour != Colour::automatic) return wanted_colour == Colour::always;
  const char* const unwanted = std::getenv("NO_COLOR");  // no-color.org: set and not empty
  const char* const kind = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (unwanted == nullptr || *unwanted == '\0') && kind != nullptr &&
         std::string_view(kind) != "dumb";
}

}  // namespace locus::tools
