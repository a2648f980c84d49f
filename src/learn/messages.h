// SPDX-License-Identifier: Apache-2.0
// The catalogue of sentences in English and Spanish, learn/exercises/messages.json: {"key": {"en": ..., "es": ...}}.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "learn/broken_law.h"

namespace locus::learn {

class Messages {
 public:
  /// Error: a missing or malformed file, a language other than en and es.
  Messages(const std::filesystem::path& file, const std::string& language);

  /// The sentence of `key`, with each {name} replaced.
  /// Error: an unknown key.
  std::string text(const std::string& key, const Parameters& parameters = {}) const;
  bool has(const std::string& key) const { return sentences_.contains(key); }
  const std::string& language() const { return language_; }

 private:
  std::string language_;
  std::map<std::string, std::string> sentences_;
};

/// The human languages of the course.
inline constexpr std::string_view languages[] = {"en", "es"};

/// "es" where LC_ALL, LC_MESSAGES or LANG (the first that is set) asks for Spanish, else "en".
std::string language_of_locale();

}  // namespace locus::learn
