// SPDX-License-Identifier: Apache-2.0
#include "messages/check_names.h"

#include <algorithm>

namespace locus {
namespace {

/// The name without the type at its end, "(float32)", which stays.
std::size_t end_of_name(std::string_view english) {
  const std::size_t type = english.rfind(" (");
  return english.ends_with(')') && type != english.npos ? type : english.size();
}

}  // namespace

std::optional<std::string> check_name(const Words& words, std::string_view english) {
  if (english.empty() || words.has_phrase(english)) return words.phrase(english);
  if (const std::size_t end = end_of_name(english); end < english.size()) {
    const auto name = check_name(words, english.substr(0, end));
    return name ? std::optional(*name + std::string(english.substr(end))) : std::nullopt;
  }
  for (const std::string_view between : {": ", " = ", ", "}) {
    const std::size_t at = english.find(between);
    if (at == english.npos) continue;
    const auto first = check_name(words, english.substr(0, at));
    const auto second = check_name(words, english.substr(at + between.size()));
    return first && second ? std::optional(*first + std::string(between) + *second) : std::nullopt;
  }
  if (english.starts_with("not ")) {  // a claim that a scheme does not make
    const auto claim = check_name(words, english.substr(4));
    return claim ? std::optional(words.phrase("not") + " " + *claim) : std::nullopt;
  }
  std::string claim(english);
  std::replace(claim.begin(), claim.end(), '_', ' ');
  return words.has_phrase(claim) ? std::optional(words.phrase(claim)) : std::nullopt;
}

}  // namespace locus
