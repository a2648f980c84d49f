// SPDX-License-Identifier: Apache-2.0
#include "probe/tokenizers/vocabulary.h"

namespace locus::probe {

std::unordered_map<std::string, TokenId> Vocabulary::normal_ids() const {
  std::unordered_map<std::string, TokenId> ids;
  for (std::size_t id = 0; id < spellings.size(); ++id) {
    const bool text = roles[id] != TokenRole::control && roles[id] != TokenRole::unknown;
    if (text && !spellings[id].empty()) ids.emplace(spellings[id], static_cast<TokenId>(id));
  }
  return ids;
}

std::vector<AddedToken> Vocabulary::added() const {
  std::vector<AddedToken> tokens;
  for (std::size_t id = 0; id < spellings.size(); ++id) {
    const bool control = roles[id] == TokenRole::control;
    if (control || roles[id] == TokenRole::user_defined) {
      tokens.push_back({spellings[id], static_cast<TokenId>(id), control, false, false});
    }
  }
  return tokens;
}

}  // namespace locus::probe
