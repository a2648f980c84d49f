// SPDX-License-Identifier: Apache-2.0
// Where the sources and the build are: known to one file only, so that no other test depends on where it is compiled.
#pragma once

#include <filesystem>
#include <string>

namespace locus::testing {

const std::filesystem::path& source_dir();
const std::filesystem::path& binary_dir();

/// The whole file; empty where there is none.
std::string text_of(const std::filesystem::path& file);

}  // namespace locus::testing
