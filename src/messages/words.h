// SPDX-License-Identifier: Apache-2.0
// The texts of one language.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "messages/language.h"

namespace locus {

enum class Message : std::uint16_t {
#define LOCUS_MESSAGE(key, english, spanish) key,
#include "messages/messages.def"
#undef LOCUS_MESSAGE
};

/// A message as the catalogue has it: blanks are names in braces, as in "{count} seeds".
struct CatalogueEntry {
  std::string_view key, english, spanish;
};
std::span<const CatalogueEntry> catalogue();
/// Texts of the registry or of a file, keyed by the English text, in which # stands for a number.
std::span<const CatalogueEntry> phrases();

class Words {
 public:
  using Blanks = std::initializer_list<std::pair<std::string_view, std::string>>;

  explicit Words(Language language = Language::english) : language_(language) {}
  Language language() const { return language_; }

  /// The message with its blanks filled. Error where the blanks given are not those of the message.
  std::string operator()(Message message, Blanks blanks = {}) const;
  /// The message for one or for many; the blank "count" is filled.
  std::string counted(std::int64_t count, Message one, Message many) const;

  /// A text of the registry or of a file; itself where the catalogue does not have it.
  std::string phrase(std::string_view english) const;
  bool has_phrase(std::string_view english) const;  ///< true in English
  /// "RoPE + YaRN + fine-tuned": every part is a phrase.
  std::string label(std::string_view english) const;

  std::string all_of(const std::vector<std::string>& items) const;  ///< a, b and c
  std::string one_of(const std::vector<std::string>& items) const;  ///< a, b or c
  /// A formatted number with this language's separator of thousands.
  std::string digits(std::string number) const;
  std::string grouped(std::int64_t value) const;

 private:
  Language language_;
};

}  // namespace locus
