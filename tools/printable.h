// SPDX-License-Identifier: Apache-2.0
// Text out of files, fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace locus::tools {

/// One line that moves no cursor: control characters (below U+0020, U+007F to U+009F) become '?'.
std::string printable(std::string_view text);
/// The same, but line ends and tabs stay.
std::string printable_lines(std::string_view text);

}  // namespace locus::tools
