// SPDX-License-Identifier: Apache-2.0
// The regular expressions by which byte-level BPE cuts a text into words, as their files spell them.
//
// The part of the language that tokenizers use: alternatives in order; sets with \s \p{L} \p{M} \p{N} \p{P} \p{S};
// ? * + {n} {n,m}, possessive ?+ *+ ++; groups ( ), (?: ) and (?i: ) that occur once or not at all; one character of
// look-ahead, (?! ) and (?= ). Anything else is refused by name, never half understood.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "probe/tokenizers/character_set.h"

namespace locus::probe {

class SplitPattern {
 public:
  /// Error naming `name`, the place and what is not understood there.
  SplitPattern(std::string_view pattern, const std::string& name);
  /// A pattern that matches `text` and nothing else.
  static SplitPattern literal(std::string_view text);

  /// Where the match that starts at `at` ends; `at` where there is none.
  std::size_t match(const std::vector<char32_t>& text, std::size_t at) const;

 private:
  friend class PatternParser;
  SplitPattern() = default;

  enum class Kind : unsigned char { finish, repeat, choice, look_ahead };
  static constexpr std::size_t failed = static_cast<std::size_t>(-1);
  struct Node {
    Kind kind = Kind::finish;
    CharacterSet set = {};
    std::size_t least = 1, most = 1;         ///< repeat
    bool possessive = false;                 ///< repeat: gives nothing back
    bool wanted = true;                      ///< look_ahead
    std::vector<std::size_t> branches = {};  ///< choice: the first node of each
    std::size_t next = 0;
  };
  std::size_t run(std::size_t node, const std::vector<char32_t>& text, std::size_t at) const;

  std::vector<Node> nodes_;  ///< the first is the end of every match
  std::size_t start_ = 0;
};

/// One cut of a text: what matches, what lies between, or both become pieces.
struct SplitStep {
  SplitPattern pattern;
  bool keeps_matches = true, keeps_gaps = true;
};

/// The words of `text` after every step has cut the pieces of the one before.
std::vector<std::string_view> split(std::string_view text, const std::vector<SplitStep>& steps);

}  // namespace locus::probe
