// SPDX-License-Identifier: Apache-2.0
// Text for a page. Plain text becomes Html only by escaping.
#pragma once

#include <string>
#include <string_view>

namespace locus::figures {

/// Escapes `&`, `<`, `>`, both quotes and control characters, for text and attributes. Bytes that are not UTF-8 become
/// U+FFFD.
std::string escaped(std::string_view text);

class Html {
 public:
  Html() = default;
  Html(std::string_view text) : markup_(escaped(text)) {}    // NOLINT: converts implicitly
  Html(const std::string& text) : markup_(escaped(text)) {}  // NOLINT
  Html(const char* text) : Html(std::string_view(text)) {}   // NOLINT

  /// For markup written in this folder, never for text from a file.
  static Html raw(std::string markup);

  const std::string& markup() const { return markup_; }
  bool empty() const { return markup_.empty(); }
  Html& operator+=(const Html& other);
  friend Html operator+(Html left, const Html& right) { return left += right; }

 private:
  std::string markup_;
};

/// Makes `<tag>content</tag>`; `attributes` is trusted markup.
Html element(std::string_view tag, const Html& content, std::string_view attributes = {});
Html strong(const Html& content);
Html code(const Html& content);
/// Makes a link within the page; there are no others.
Html link_to(std::string_view id, const Html& content);

/// Converts plain text in which `backticks` mark code and **two stars** mark strong text.
Html prose(std::string_view text);

/// Makes the first letter a capital and ends the text with a full stop.
std::string sentence(std::string_view text);

/// Keeps lower-case letters, digits and single hyphens, as in "rope-yarn-tuned"; "x" if nothing is left.
std::string identifier(std::string_view text);

}  // namespace locus::figures
