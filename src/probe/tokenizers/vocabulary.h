// SPDX-License-Identifier: Apache-2.0
// Tokens by id and by spelling.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "probe/tokenizers/tokenizer.h"

namespace locus::probe {

/// The role of a token, numbered as in GGUF.
enum class TokenRole : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct Vocabulary {
  std::vector<std::string> spellings;
  std::vector<TokenRole> roles;  ///< one per token

  /// Returns the ids of normal tokens by spelling, without control tokens; the first of equals.
  std::unordered_map<std::string, TokenId> normal_ids() const;
  /// Returns the tokens that are searched for in the text: control and user-defined ones.
  std::vector<AddedToken> added() const;
};

}  // namespace locus::probe
