// SPDX-License-Identifier: Apache-2.0
#include "support/paths.h"

namespace locus::testing {

const std::filesystem::path& source_dir() {
  static const std::filesystem::path path(LOCUS_SOURCE_DIR);
  return path;
}

const std::filesystem::path& binary_dir() {
  static const std::filesystem::path path(LOCUS_BINARY_DIR);
  return path;
}

}  // namespace locus::testing
