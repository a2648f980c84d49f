// SPDX-License-Identifier: Apache-2.0
// Finds and reads a lab's results.json.
#pragma once

#include <filesystem>

#include "figures/figure.h"

namespace locus::tools {

/// Returns the results.json of a folder, or the file itself. Error: it does not exist.
std::filesystem::path results_path(const std::filesystem::path& given);

/// Reads a JSON file. Error: a file that cannot be read or is not JSON.
figures::Json read_json(const std::filesystem::path& path);

}  // namespace locus::tools
