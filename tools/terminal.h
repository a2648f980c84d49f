// SPDX-License-Identifier: Apache-2.0
// The width of standard output, and whether it shows colours.
#pragma once

#include <cstdint>

namespace locus::tools {

/// Returns $COLUMNS, else the width of the terminal, else 80; between 40 and 1000.
std::int64_t terminal_width();

/// Returns whether standard output is a terminal that shows colours and NO_COLOR is not set.
bool terminal_has_colour();

}  // namespace locus::tools
