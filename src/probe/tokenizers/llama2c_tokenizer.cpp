// SPDX-License-Identifier: Apache-2.0
// The tokenizer of llama2.c's run.c: adds a space before a text that is not empty, takes one token per character
// (bytes for characters without one), then repeatedly merges the pair whose concatenation has the best score. The ids
// are fixed: 0 unknown, 1 beginning, 2 end, 3 + b the byte b.
#include <map>

#include "locus/error.h"
#include "probe/tokenizers/byte_tokens.h"
#include "probe/tokenizers/pair_merging.h"
#include "probe/tokenizers/tokenizer.h"

namespace locus::probe {
namespace {

constexpr TokenId first_byte = 3;

class Llama2cEncoder : public Tokenizer {
 public:
  Llama2cEncoder(const io::Llama2cTokenizer& file, std::vector<std::string> bytes)
      // The file spells them "\n<s>\n", which users do not type.
      : Tokenizer({.kind = "llama2.c tokenizer", .bos = 1, .eos = 2, .unknown = 0, .adds_bos = true}, std::move(bytes),
                  {{.text = "<s>", .id = 1}, {.text = "</s>", .id = 2}}, true),
        tokens_(file.tokens) {
    for (std::size_t id = 0; id < tokens_.size(); ++id) ids_.emplace(tokens_[id].bytes, static_cast<TokenId>(id));
  }

 private:
  std::optional<TokenId> find(const std::string& bytes) const {
    const auto found = ids_.find(bytes);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  /// run.c's characters: a byte and up to three continuation bytes, valid or not.
  static std::size_t character_end(std::string_view text, std::size_t at) {
    std::size_t end = at + 1;
    while (end < text.size() && end - at < 4 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) ++end;
    return end;
  }

  void encode_stretch(std::string_view text, bool, std::vector<TokenId>& ids) const override {
    std::vector<TokenId> symbols;
    if (const auto space = find(" ")) symbols.push_back(*space);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = character_end(text, at);
      const std::string character(text.substr(at, end - at));
      if (const auto id = find(character)) {
        symbols.push_back(*id);
      } else {
        for (const char byte : character) symbols.push_back(first_byte + static_cast<unsigned char>(byte));
      }
      at = end;
    }
    const auto merged = merge_pairs(symbols, [&](TokenId left, TokenId right) -> std::optional<MergedPair<TokenId>> {
      const auto id = find(bytes_of(left) + bytes_of(right));
      if (!id) return std::nullopt;
      return MergedPair<TokenId>{-static_cast<double>(tokens_[static_cast<std::size_t>(*id)].score), *id};
    });
    ids.insert(ids.end(), merged.begin(), merged.end());
  }

  const std::string& bytes_of(TokenId id) const { return tokens_[static_cast<std::size_t>(id)].bytes; }

  std::vector<io::Llama2cTokenizer::Token> tokens_;
  std::map<std::string, TokenId> ids_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_tokenizer(const io::Llama2cTokenizer& file, const std::string& name) {
  require(file.tokens.size() >= first_byte + 256, name,
          ": must have at least 259 tokens (3 control tokens and 256 bytes), got ", file.tokens.size());
  std::vector<std::string> bytes;
  for (const auto& token : file.tokens) {
    require(token.score == token.score, name, ": the score of token ", bytes.size(), " is not a number");
    const auto byte = byte_token(token.bytes);
    bytes.push_back(byte ? std::string(1, *byte) : token.bytes);
  }
  return std::make_unique<Llama2cEncoder>(file, std::move(bytes));
}

}  // namespace locus::probe
