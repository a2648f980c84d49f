// SPDX-License-Identifier: Apache-2.0
#include "figures/report/html.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace locus::figures {
namespace {

// Returns the length of the well-formed UTF-8 sequence that starts here, or 0.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  std::uint32_t point = first & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3fu);
  }
  const bool overlong = (length == 3 && point < 0x800) || (length == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point < 0xe000;
  return overlong || surrogate || point > 0x10ffff ? 0 : length;
}

std::string_view replacement(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string escaped(std::string_view text) {
  constexpr std::string_view not_a_character = "\xef\xbf\xbd";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    const bool control = (first < ' ' && first != '\n' && first != '\t') || first == 0x7f;
    if (const std::string_view other = replacement(text.front()); !other.empty()) {
      result += other;
    } else if (length == 0 || control) {
      result += not_a_character;
    } else {
      result += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

Html Html::raw(std::string markup) {
  Html html;
  html.markup_ = std::move(markup);
  return html;
}

Html& Html::operator+=(const Html& other) {
  markup_ += other.markup_;
  return *this;
}

Html element(std::string_view tag, const Html& content, std::string_view attributes) {
  std::string markup = "<" + std::string(tag);
  if (!attributes.empty()) markup += " " + std::string(attributes);
  return Html::raw(markup + ">" + content.markup() + "</" + std::string(tag) + ">");
}

Html strong(const Html& content) { return element("strong", content); }
Html code(const Html& content) { return element("code", content); }
Html link_to(std::string_view id, const Html& content) {
  return element("a", content, "href=\"#" + escaped(id) + "\"");
}

Html prose(std::string_view text) {
  Html result;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find('`'), text.find("**"));
    if (begin == text.npos) return result + Html(text);
    const std::string_view mark = text[begin] == '`' ? "`" : "**";
    const std::size_t inside = begin + mark.size(), end = text.find(mark, inside);
    if (end == text.npos) return result + Html(text);
    const std::string_view marked = text.substr(inside, end - inside);
    result += Html(text.substr(0, begin)) + (mark == "`" ? code(marked) : strong(marked));
    text.remove_prefix(end + mark.size());
  }
  return result;
}

std::string sentence(std::string_view text) {
  std::string result(text);
  if (result.empty()) return result;
  if (result.front() >= 'a' && result.front() <= 'z') result.front() = static_cast<char>(result.front() - 'a' + 'A');
  if (!result.ends_with('.')) result += '.';
  return result;
}

std::string identifier(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto letter = static_cast<unsigned char>(c);
    if (letter < 0x80 && std::isalnum(letter) != 0) {
      result += static_cast<char>(std::tolower(letter));
    } else if (!result.empty() && result.back() != '-') {
      result += '-';
    }
  }
  while (!result.empty() && result.back() == '-') result.pop_back();
  return result.empty() ? "x" : result;
}

}  // namespace locus::figures
