// SPDX-License-Identifier: Apache-2.0
// The characters that one element of a split pattern matches: \s, \p{L}, [^\r\n\p{L}], a letter.
#pragma once

#include <bitset>
#include <string_view>
#include <utility>
#include <vector>

namespace locus::probe {

class CharacterSet {
 public:
  void add(char32_t first, char32_t last) { ranges_.emplace_back(first, last); }
  /// Adds s (white space) or a general category: L, M, N, P, S. Returns false for any other name.
  bool add_class(std::string_view name, bool negated);
  /// Adds a nested set.
  void add(CharacterSet part) { parts_.push_back(std::move(part)); }
  void negate() { negated_ = !negated_; }
  /// Makes letters match both cases; s and k also match the long s and the Kelvin sign, which fold to them.
  void ignore_case();
  /// Call once after the last addition. It builds a lookup table for ASCII.
  void finish();

  bool matches(char32_t code) const { return code < 128 ? ascii_[code] : searched(code); }

 private:
  struct Class {
    bool (*holds)(char32_t);
    bool negated;
  };
  bool searched(char32_t code) const;

  std::vector<std::pair<char32_t, char32_t>> ranges_;
  std::vector<Class> classes_;
  std::vector<CharacterSet> parts_;
  bool negated_ = false;
  std::bitset<128> ascii_;
};

}  // namespace locus::probe
