// SPDX-License-Identifier: Apache-2.0
#include "base/text_layout.h"

#include <algorithm>

namespace locus {

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {  // a colour, up to its m
      i = std::min(text.find('m', i), text.size());
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      ++columns;
    }
  }
  return columns;
}

std::string left_padded(std::string_view text, std::size_t columns) {
  const std::size_t own = columns_of(text);
  return std::string(columns > own ? columns - own : 0, ' ') + std::string(text);
}

std::string counted(std::size_t count, std::string_view noun) {
  return std::to_string(count).append(" ").append(noun).append(count == 1 ? "" : "s");
}

std::string shortened(std::string_view text, std::size_t columns) {
  if (columns_of(text) <= columns) return std::string(text);
  if (columns == 0) return {};
  std::size_t size = 0;
  for (std::size_t seen = 0; seen < columns; ++size) {  // up to the start of the character that gives way
    seen += (static_cast<unsigned char>(text[size]) & 0xC0) != 0x80 ? 1 : 0;
    if (seen == columns) break;
  }
  return std::string(text.substr(0, size)) + "…";
}

std::string right_padded(std::string_view text, std::size_t columns) {
  const std::size_t own = columns_of(text);
  return std::string(text) + std::string(columns > own ? columns - own : 0, ' ');
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string result, line;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) {
      result += line + "\n";
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  return line.empty() ? result : result + line + "\n";
}

}  // namespace locus
