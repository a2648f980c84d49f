// SPDX-License-Identifier: Apache-2.0
#include "io/unread.h"

#include <fstream>

namespace locus::io {

std::uint64_t unread_bytes([[maybe_unused]] const std::filesystem::path& path) {
  std::uint64_t unread = 0;
#ifdef __EMSCRIPTEN__
  std::ifstream(path.string() + ".unread") >> unread;
#endif
  return unread;
}

}  // namespace locus::io
