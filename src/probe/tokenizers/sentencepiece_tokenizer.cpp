// SPDX-License-Identifier: Apache-2.0
// A piece of text gets its space prefix, spaces become U+2581, and every character is a symbol. Neighbours whose
// concatenation is a token are merged, best score first, leftmost of equals. A symbol that is no token is spelled in
// bytes, <0xHH>, or becomes the unknown token.
#include "probe/tokenizers/sentencepiece_tokenizer.h"

#include <array>

#include "locus/error.h"
#include "probe/tokenizers/byte_tokens.h"
#include "probe/tokenizers/pair_merging.h"
#include "probe/tokenizers/unicode.h"

namespace locus::probe {
namespace {

std::vector<std::string> bytes_of(const Vocabulary& vocabulary) {
  std::vector<std::string> all;
  for (std::size_t id = 0; id < vocabulary.spellings.size(); ++id) {
    const std::string& spelling = vocabulary.spellings[id];
    const auto byte = byte_token(spelling);
    const bool as_is = vocabulary.roles[id] == TokenRole::user_defined;
    all.push_back(vocabulary.roles[id] == TokenRole::byte && byte ? std::string(1, *byte)
                  : as_is                                         ? spelling
                                                                  : replaced(spelling, shown_space, " "));
  }
  return all;
}

class SentencePiece : public Tokenizer {
 public:
  explicit SentencePiece(SentencePieceParts parts)
      : Tokenizer(parts.facts, bytes_of(parts.vocabulary), parts.vocabulary.added(), parts.space_prefix),
        ids_(parts.vocabulary.normal_ids()),
        scores_(std::move(parts.scores)),
        space_prefix_(parts.space_prefix) {
    byte_ids_.fill(-1);
    for (std::size_t id = 0; id < scores_.size(); ++id) {
      const auto byte = byte_token(parts.vocabulary.spellings[id]);
      if (byte && parts.vocabulary.roles[id] == TokenRole::byte) {
        byte_ids_[static_cast<unsigned char>(*byte)] = static_cast<TokenId>(id);
      }
    }
  }

 private:
  void encode_stretch(std::string_view text, bool, std::vector<TokenId>& ids) const override {
    std::string shown(space_prefix_ ? shown_space : std::string_view());
    shown += replaced(text, " ", shown_space);
    std::vector<std::string_view> symbols;
    for (std::size_t at = 0; at < shown.size(); at += symbols.back().size()) {
      symbols.push_back(std::string_view(shown).substr(at, character_at(shown, at).size));
    }
    using Merged = MergedPair<std::string_view>;
    const auto join = [&](std::string_view left, std::string_view right) -> std::optional<Merged> {
      const std::string_view both(left.data(), left.size() + right.size());
      const auto found = ids_.find(std::string(both));
      if (found == ids_.end()) return std::nullopt;
      return Merged{-static_cast<double>(scores_[static_cast<std::size_t>(found->second)]), both};
    };
    for (const std::string_view symbol : merge_pairs(std::move(symbols), join)) append(symbol, ids);
  }

  void append(std::string_view symbol, std::vector<TokenId>& ids) const {
    if (const auto found = ids_.find(std::string(symbol)); found != ids_.end()) {
      ids.push_back(found->second);
      return;
    }
    bool all_bytes = true;
    for (const char byte : symbol) all_bytes = all_bytes && byte_ids_[static_cast<unsigned char>(byte)] >= 0;
    require(all_bytes || unknown(), facts().kind, ": no token for the bytes ",
            byte_token_spelling(static_cast<unsigned char>(symbol[0])), "..., and no unknown token");
    if (!all_bytes) return ids.push_back(*unknown());
    for (const char byte : symbol) ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
  }

  std::unordered_map<std::string, TokenId> ids_;
  std::vector<float> scores_;
  std::array<TokenId, 256> byte_ids_{};
  bool space_prefix_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_sentencepiece(SentencePieceParts parts, const std::string& name) {
  require(parts.scores.size() == parts.vocabulary.spellings.size(), name, ": must have one score per token (",
          parts.vocabulary.spellings.size(), "), got ", parts.scores.size());
  for (const float score : parts.scores) require(score == score, name, ": a token's score is not a number");
  return std::make_unique<SentencePiece>(std::move(parts));
}

}  // namespace locus::probe
