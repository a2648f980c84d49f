// SPDX-License-Identifier: Apache-2.0
// Every character is replaced by its full decomposition, runs of marks are sorted by their class, and characters that
// compose with the last starter are taken into it. Hangul syllables are decomposed and composed by arithmetic.
#include "probe/tokenizers/normalization.h"

#include <algorithm>
#include <vector>

#include "probe/tokenizers/normalization_tables.h"
#include "probe/tokenizers/unicode.h"

namespace locus::probe {
namespace {

constexpr char32_t hangul = 0xAC00, leads = 0x1100, vowels = 0x1161, tails = 0x11A7;  // tail 0 is none
constexpr char32_t lead_count = 19, vowel_count = 21, tail_count = 28;
constexpr char32_t syllable_count = lead_count * vowel_count * tail_count;

/// A character of the text, or a byte that is none, in order of the result.
struct Letter {
  char32_t code;
  int combining_class;  ///< 0: a starter
};

/// A byte that is not UTF-8, kept beyond the codes of Unicode.
constexpr char32_t raw_byte = 0x200000;

int class_of(char32_t code) {
  const auto after = std::upper_bound(unicode::combining_classes.begin(), unicode::combining_classes.end(), code,
                                      [](char32_t value, const auto& range) { return value < range.first; });
  if (after == unicode::combining_classes.begin() || code > std::prev(after)->last) return 0;
  return std::prev(after)->combining_class;
}

template <class Table>
const unicode::Decomposition* find(const Table& table, char32_t code) {
  const auto found =
      std::lower_bound(table.begin(), table.end(), code,
                       [](const unicode::Decomposition& one, char32_t value) { return one.code < value; });
  return found != table.end() && found->code == code ? &*found : nullptr;
}

void append(std::vector<Letter>& letters, char32_t code) { letters.push_back({code, class_of(code)}); }

void append_decomposed(std::vector<Letter>& letters, char32_t code, bool compatible) {
  if (code >= hangul && code < hangul + syllable_count) {
    const char32_t index = code - hangul;
    append(letters, leads + index / (vowel_count * tail_count));
    append(letters, vowels + index / tail_count % vowel_count);
    if (index % tail_count != 0) append(letters, tails + index % tail_count);
    return;
  }
  const unicode::Decomposition* found = compatible ? find(unicode::compatible_decompositions, code) : nullptr;
  if (found == nullptr) found = find(unicode::canonical_decompositions, code);
  if (found == nullptr) return append(letters, code);
  for (std::size_t i = 0; i < found->size; ++i) append(letters, unicode::decomposed[found->begin + i]);
}

void sort_marks(std::vector<Letter>& letters) {
  for (auto begin = letters.begin(); begin != letters.end();) {
    if (begin->combining_class == 0) {
      ++begin;
      continue;
    }
    const auto end = std::find_if(begin, letters.end(), [](const Letter& one) { return one.combining_class == 0; });
    std::stable_sort(begin, end,
                     [](const Letter& a, const Letter& b) { return a.combining_class < b.combining_class; });
    begin = end;
  }
}

/// The character that two compose to; 0 if there is none.
char32_t composed(char32_t first, char32_t second) {
  if (first >= leads && first < leads + lead_count && second >= vowels && second < vowels + vowel_count) {
    return hangul + ((first - leads) * vowel_count + second - vowels) * tail_count;
  }
  const bool without_tail = first >= hangul && first < hangul + syllable_count && (first - hangul) % tail_count == 0;
  if (without_tail && second > tails && second < tails + tail_count) return first + second - tails;
  const auto found = std::lower_bound(unicode::compositions.begin(), unicode::compositions.end(),
                                      std::pair(first, second), [](const unicode::Composition& one, const auto& pair) {
                                        return std::pair(char32_t{one.first}, char32_t{one.second}) < pair;
                                      });
  const bool exact = found != unicode::compositions.end() && found->first == first && found->second == second;
  return exact ? char32_t{found->composed} : 0;
}

void compose(std::vector<Letter>& letters) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  std::size_t starter = none, kept = 0;
  int before = 0;  // the class of the letter before, if it did not compose
  for (std::size_t i = 0; i < letters.size(); ++i) {
    const Letter letter = letters[i];  // kept <= i: what is written has been read
    const bool adjacent = starter != none && starter + 1 == kept;
    const bool blocked = !adjacent && before >= letter.combining_class;
    const char32_t whole = starter == none || blocked ? 0 : composed(letters[starter].code, letter.code);
    if (whole != 0) {
      letters[starter].code = whole;
      continue;
    }
    if (letter.combining_class == 0) starter = kept;
    before = letter.combining_class;
    letters[kept++] = letter;
  }
  letters.resize(kept);
}

}  // namespace

std::string to_form(std::string_view text, NormalForm form) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  if (std::all_of(text.begin(), text.end(), is_ascii)) return std::string(text);
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  std::vector<Letter> letters;
  for (std::size_t at = 0; at < text.size();) {
    const Character c = character_at(text, at);
    if (c.code == not_a_character) {
      letters.push_back({raw_byte + static_cast<unsigned char>(text[at]), 0});
    } else {
      append_decomposed(letters, c.code, compatible);
    }
    at += c.size;
  }
  sort_marks(letters);
  if (form == NormalForm::nfc || form == NormalForm::nfkc) compose(letters);
  std::string result;
  result.reserve(text.size());
  for (const Letter& one : letters) {
    if (one.code >= raw_byte) {
      result.push_back(static_cast<char>(one.code - raw_byte));
    } else {
      append_utf8(result, one.code);
    }
  }
  return result;
}

}  // namespace locus::probe
