// SPDX-License-Identifier: Apache-2.0
// The sentences of one language that are found by a name at run time: those of `locus learn`. Their names are stable,
// since programs read them too (`check --json`).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "messages/words.h"

namespace locus {

/// What stands for {name} in a sentence.
using Parameters = std::map<std::string, std::string, std::less<>>;

/// All of them: name, English, Spanish.
std::span<const CatalogueEntry> all_sentences();

class Sentences {
 public:
  explicit Sentences(Language language = Language::english) : language_(language) {}
  Language language() const { return language_; }

  /// The sentence called `name`, its blanks filled. Parameters that it has no blank for are ignored.
  /// Error: an unknown name, a blank without a parameter.
  std::string text(std::string_view name, const Parameters& parameters = {}) const;
  static bool has(std::string_view name);

 private:
  Language language_;
};

/// Spanish where LC_ALL, LC_MESSAGES or LANG (the first that is set) asks for it, else English.
Language language_of_locale();

}  // namespace locus
