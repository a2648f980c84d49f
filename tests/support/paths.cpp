// SPDX-License-Identifier: Apache-2.0
#include "support/paths.h"

#include <fstream>
#include <iterator>

namespace locus::testing {

const std::filesystem::path& source_dir() {
  static const std::filesystem::path path(LOCUS_SOURCE_DIR);
  return path;
}

const std::filesystem::path& binary_dir() {
  static const std::filesystem::path path(LOCUS_BINARY_DIR);
  return path;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace locus::testing
