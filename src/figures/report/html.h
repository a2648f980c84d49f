// SPDX-License-Identifier: Apache-2.0
// Text for a page. Plain text becomes Html only by escaping, so nothing gets in unescaped by mistake.
#pragma once

#include <string>
#include <string_view>

namespace locus::figures {

/// `&`, `<`, `>`, both quotes and control characters made harmless in text and in attributes; bytes that are not UTF-8
/// become U+FFFD.
std::string escaped(std::string_view text);

class Html {
 public:
  Html() = default;
  Html(std::string_view text) : markup_(escaped(text)) {}    // NOLINT: plain text is welcome anywhere
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

/// `<tag>content</tag>`; `attributes` is trusted markup.
Html element(std::string_view tag, const Html& content, std::string_view attributes = {});
Html strong(const Html& content);
Html code(const Html& content);
/// A link within the page; there are no others.
Html link_to(std::string_view id, const Html& content);

/// Plain text in which `backticks` mark code and **two stars** what is strong.
Html prose(std::string_view text);

/// A capital letter first, a full stop last.
std::string sentence(std::string_view text);

/// Small letters, digits and single hyphens of a text, as in "rope-yarn-tuned"; "x" where nothing is left.
std::string identifier(std::string_view text);

}  // namespace locus::figures
