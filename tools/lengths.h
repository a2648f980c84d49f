// SPDX-License-Identifier: Apache-2.0
// Lengths of position tables on the command line: `512`, or a grid, `14x14`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "locus/text.h"

namespace locus::tools {

using Lengths = std::vector<std::int64_t>;  // one length, or height and width

/// Parses `512` or `14x14`, each at least 1. Error: any other text; `option` starts the message.
Lengths parse_lengths(std::string_view option, std::string_view text);

}  // namespace locus::tools
