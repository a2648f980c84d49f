// SPDX-License-Identifier: Apache-2.0
#include "messages/words.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>

#include "locus/error.h"
#include "locus/names.h"
#include "locus/text.h"
#include "messages/blanks.h"

namespace locus {
namespace {

constexpr std::string_view narrow_space = "\u202f";

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The text with every number replaced by #, and the numbers. A number is digits, also with a point between them.
std::pair<std::string, std::vector<std::string>> without_numbers(std::string_view text) {
  std::pair<std::string, std::vector<std::string>> result;
  auto& [pattern, numbers] = result;
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool point = inside && text[i] == '.' && i + 1 < text.size() && is_digit(text[i + 1]);
    if (!is_digit(text[i]) && !point) {
      inside = false;
      pattern += text[i];
      continue;
    }
    if (!inside) {
      pattern += '#';
      numbers.emplace_back();
    }
    inside = true;
    numbers.back() += text[i];
  }
  return result;
}

std::optional<std::string> spanish_phrase(std::string_view english) {
  static const std::map<std::string_view, std::string_view> all = [] {
    std::map<std::string_view, std::string_view> made;
    for (const CatalogueEntry& entry : phrases()) made.emplace(entry.english, entry.spanish);
    return made;
  }();
  if (const auto whole = all.find(english); whole != all.end()) return std::string(whole->second);
  const auto [pattern, numbers] = without_numbers(english);
  const auto found = all.find(pattern);
  if (found == all.end()) return std::nullopt;
  std::string text;
  std::size_t used = 0;
  for (const char c : found->second) {
    if (c == '#' && used < numbers.size()) {
      text += numbers[used++];
    } else {
      text += c;
    }
  }
  return text;
}

/// Spanish says "e" before the sound of i, "u" before that of o.
std::string_view conjunction(std::string_view usual, std::string_view other, std::string_view vowel,
                             std::string_view next) {
  std::string start;
  for (const char c : next.substr(0, 3)) {
    start += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const bool clash = start.starts_with(vowel) || (start.starts_with("h" + std::string(vowel)) && start != "hie");
  return clash ? other : usual;
}

}  // namespace

std::string_view code_of(Language language) { return language == Language::spanish ? "es" : "en"; }

Language find_language(std::string_view code) {
  return find_named("language", all_languages, code, [](Language language) { return code_of(language); });
}

std::span<const CatalogueEntry> catalogue() {
  static const CatalogueEntry all[] = {
#define LOCUS_MESSAGE(key, english, spanish) {#key, english, spanish},
#include "messages/messages.def"
#undef LOCUS_MESSAGE
  };
  return all;
}

std::span<const CatalogueEntry> phrases() {
  static const CatalogueEntry all[] = {
#define LOCUS_PHRASE(english, spanish) {"", english, spanish},
#include "messages/phrases.def"
#undef LOCUS_PHRASE
  };
  return all;
}

std::string Words::operator()(Message message, Blanks blanks) const {
  const CatalogueEntry& entry = catalogue()[static_cast<std::size_t>(message)];
  std::vector<std::string_view> used;
  std::string text =
      filled(entry.key, language_ == Language::spanish ? entry.spanish : entry.english, [&](std::string_view name) {
        const auto* blank =
            std::find_if(blanks.begin(), blanks.end(), [&](const auto& one) { return one.first == name; });
        if (blank != blanks.end()) used.push_back(name);
        return blank == blanks.end() ? nullptr : &blank->second;
      });
  for (const auto& [name, value] : blanks) {
    require(std::find(used.begin(), used.end(), name) != used.end(), "the message ", entry.key, " has no {", name, "}");
  }
  return text;
}

std::string Words::counted(std::int64_t count, Message one, Message many) const {
  return count == 1 ? (*this)(one) : (*this)(many, {{"count", grouped(count)}});
}

std::string Words::phrase(std::string_view english) const {
  if (language_ == Language::english) return std::string(english);
  return spanish_phrase(english).value_or(std::string(english));
}

bool Words::has_phrase(std::string_view english) const {
  return language_ == Language::english || spanish_phrase(english).has_value();
}

std::string Words::label(std::string_view english) const {
  if (language_ == Language::english) return std::string(english);
  if (const auto whole = spanish_phrase(english)) return *whole;
  for (const std::string_view between : {" + ", ", "}) {
    const std::size_t at = english.find(between);
    if (at == english.npos) continue;
    return label(english.substr(0, at)) + std::string(between) + label(english.substr(at + between.size()));
  }
  return std::string(english);
}

std::string Words::all_of(const std::vector<std::string>& items) const {
  if (language_ == Language::english || items.empty()) return listed(items);
  return listed(items, conjunction(" y ", " e ", "i", items.back()));
}

std::string Words::one_of(const std::vector<std::string>& items) const {
  if (language_ == Language::english || items.empty()) return listed(items, " or ");
  return listed(items, conjunction(" o ", " u ", "o", items.back()));
}

std::string Words::digits(std::string number) const {
  if (language_ == Language::english) return number;
  for (std::size_t at = number.find(','); at != number.npos; at = number.find(',')) number.replace(at, 1, narrow_space);
  return number;
}

std::string Words::grouped(std::int64_t value) const { return digits(locus::grouped(value)); }

}  // namespace locus
