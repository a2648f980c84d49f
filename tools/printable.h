// SPDX-License-Identifier: Apache-2.0
// Makes text from files safe to print.
#pragma once

#include <string>
#include <string_view>

namespace locus::tools {

/// Replaces control characters (below U+0020, U+007F to U+009F) by '?', so the text is one line.
std::string printable(std::string_view text);

}  // namespace locus::tools
