// SPDX-License-Identifier: Apache-2.0
#include "printable.h"

namespace locus::tools {

std::string printable(std::string_view text) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool more = i + 1 < text.size();
    // U+0080 to U+009F are C2 80 to C2 9F in UTF-8; terminals with other encodings interpret the second byte alone.
    if (byte == 0xC2 && more && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      line += '?';
      ++i;
    } else {
      line += byte < ' ' || byte == 0x7F ? '?' : text[i];
    }
  }
  return line;
}

}  // namespace locus::tools
