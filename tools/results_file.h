// SPDX-License-Identifier: Apache-2.0
// A lab's results.json as commands are given it: the file, or the folder it is in.
#pragma once

#include <filesystem>

#include "figures/figure.h"

namespace locus::tools {

/// results.json of a folder, or the file itself; Error where there is none.
std::filesystem::path results_path(const std::filesystem::path& given);

/// Error naming the file where it cannot be read or is not JSON.
figures::Json read_json(const std::filesystem::path& path);

}  // namespace locus::tools
