// SPDX-License-Identifier: Apache-2.0
// The width of standard output, and whether to colour it.
#pragma once

#include <cstdint>

namespace locus::tools {

/// Returns $COLUMNS, else the width of the terminal, else 80; between 40 and 1000.
std::int64_t terminal_width();

enum class Colour { automatic, always, never };

/// Sets what `--color` asks for.
void use_colour(Colour colour);

/// Returns whether to colour standard output. Automatic: if it is a terminal that shows colours and NO_COLOR is not
/// set.
bool colours_output();

}  // namespace locus::tools
