// SPDX-License-Identifier: Apache-2.0
// What one place of a split pattern matches: \s, \p{L}, [^\r\n\p{L}], a letter.
#pragma once

#include <bitset>
#include <string_view>
#include <utility>
#include <vector>

namespace locus::probe {

class CharacterSet {
 public:
  void add(char32_t first, char32_t last) { ranges_.emplace_back(first, last); }
  /// `name` is s (white space) or a general category: L, M, N, P, S. False where it is none of these.
  bool add_class(std::string_view name, bool negated);
  /// A set within a set is a part of it.
  void add(CharacterSet part) { parts_.push_back(std::move(part)); }
  void negate() { negated_ = !negated_; }
  /// Letters stand for both cases; s and k also for the long s and the Kelvin sign, which fold to them.
  void ignore_case();
  /// To be called once, when all is added: ASCII is looked up from then on.
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
