// SPDX-License-Identifier: Apache-2.0
#include "messages/sentences.h"

#include <cstdlib>

#include "messages/blanks.h"

namespace locus {
namespace {

const CatalogueEntry* find_sentence(std::string_view name) {
  static const std::map<std::string_view, const CatalogueEntry*> all = [] {
    std::map<std::string_view, const CatalogueEntry*> made;
    for (const CatalogueEntry& entry : all_sentences()) made.emplace(entry.key, &entry);
    return made;
  }();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

}  // namespace

std::span<const CatalogueEntry> all_sentences() {
  static const CatalogueEntry all[] = {
#define LOCUS_SENTENCE(name, english, spanish) {name, english, spanish},
#include "messages/sentences.def"
#undef LOCUS_SENTENCE
  };
  return all;
}

std::string Sentences::text(std::string_view name, const Parameters& parameters) const {
  const CatalogueEntry* const entry = find_sentence(name);
  require(entry != nullptr, "there is no sentence ", name);
  return filled(name, language_ == Language::spanish ? entry->spanish : entry->english, [&](std::string_view blank) {
    const auto found = parameters.find(blank);
    return found == parameters.end() ? nullptr : &found->second;
  });
}

bool Sentences::has(std::string_view name) { return find_sentence(name) != nullptr; }

Language language_of_locale() {
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    const std::string_view locale = value;
    const bool spanish = locale.starts_with("es") && (locale.size() == 2 || locale[2] == '_' || locale[2] == '.');
    return spanish ? Language::spanish : Language::english;
  }
  return Language::english;
}

}  // namespace locus
