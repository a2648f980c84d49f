// SPDX-License-Identifier: Apache-2.0
// The regular expressions with which byte-level BPE splits text into words, as written in tokenizer files.
//
// Supports the part of the language that tokenizers use: ordered alternatives; sets with \s \p{L} \p{M} \p{N} \p{P}
// \p{S}; ? * + {n} {n,m}, possessive ?+ *+ ++; groups ( ), (?: ) and (?i: ) that occur once or not at all; one
// character of look-ahead, (?! ) and (?= ). Anything else is refused with its name.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "probe/tokenizers/character_set.h"

namespace locus::probe {

class SplitPattern {
 public:
  /// Error: an unsupported pattern; the message has `name`, the index and the reason.
  SplitPattern(std::string_view pattern, const std::string& name);
  /// Returns a pattern that matches only `text`.
  static SplitPattern literal(std::string_view text);

  /// Returns the end of the match that starts at `at`; `at` if there is none.
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
    bool possessive = false;                 ///< repeat: without backtracking
    bool wanted = true;                      ///< look_ahead
    std::vector<std::size_t> branches = {};  ///< choice: the first node of each
    std::size_t next = 0;
  };
  std::size_t run(std::size_t node, const std::vector<char32_t>& text, std::size_t at) const;

  std::vector<Node> nodes_;  ///< the first is the end of every match
  std::size_t start_ = 0;
};

/// One step of splitting: the matches, the gaps between them, or both become pieces.
struct SplitStep {
  SplitPattern pattern;
  bool keeps_matches = true, keeps_gaps = true;
};

/// Returns the words of `text`; every step splits the pieces of the previous one.
std::vector<std::string_view> split(std::string_view text, const std::vector<SplitStep>& steps);

}  // namespace locus::probe
