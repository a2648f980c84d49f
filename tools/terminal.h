// SPDX-License-Identifier: Apache-2.0
// What standard output is: how wide, and whether colours are welcome.
#pragma once

#include <cstdint>

namespace locus::tools {

/// $COLUMNS, else the terminal's own width, else 80; between 40 and 1000.
std::int64_t terminal_width();

/// Whether standard output is a terminal that shows colours, and NO_COLOR is not set.
bool terminal_has_colour();

}  // namespace locus::tools
