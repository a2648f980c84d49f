// SPDX-License-Identifier: Apache-2.0
// The paths of the sources and the build. Only one file knows them, so that no other object depends on the path.
#pragma once

#include <filesystem>
#include <string>

namespace locus::testing {

const std::filesystem::path& source_dir();
const std::filesystem::path& binary_dir();

/// Returns the whole file; empty if it does not exist.
std::string text_of(const std::filesystem::path& file);

}  // namespace locus::testing
