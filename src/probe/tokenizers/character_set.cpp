// SPDX-License-Identifier: Apache-2.0
#include "probe/tokenizers/character_set.h"

#include <algorithm>
#include <array>

#include "probe/tokenizers/unicode.h"

namespace locus::probe {

bool CharacterSet::add_class(std::string_view name, bool negated) {
  static constexpr std::array<std::pair<std::string_view, bool (*)(char32_t)>, 6> classes = {{
      {"s", is_space},
      {"L", is_letter},
      {"M", is_mark},
      {"N", is_number},
      {"P", is_punctuation},
      {"S", is_symbol},
  }};
  for (const auto& [known, holds] : classes) {
    if (known == name) {
      classes_.push_back({holds, negated});
      return true;
    }
  }
  return false;
}

void CharacterSet::ignore_case() {
  const auto given = ranges_;
  for (const auto& [first, last] : given) {
    for (char32_t code = std::max<char32_t>(first, 'A'); code <= std::min<char32_t>(last, 'z'); ++code) {
      if (!is_letter(code)) continue;
      add(code ^ 0x20U, code ^ 0x20U);
      if ((code | 0x20U) == 's') add(0x17F, 0x17F);
      if ((code | 0x20U) == 'k') add(0x212A, 0x212A);
    }
  }
}

void CharacterSet::finish() {
  for (CharacterSet& part : parts_) part.finish();
  for (char32_t code = 0; code < 128; ++code) ascii_[code] = searched(code);
}

bool CharacterSet::searched(char32_t code) const {
  const bool inside =
      std::any_of(ranges_.begin(), ranges_.end(), [&](const auto& r) { return code >= r.first && code <= r.second; }) ||
      std::any_of(classes_.begin(), classes_.end(), [&](const Class& c) { return c.holds(code) != c.negated; }) ||
      std::any_of(parts_.begin(), parts_.end(), [&](const CharacterSet& part) { return part.matches(code); });
  return inside != negated_;
}

}  // namespace locus::probe
