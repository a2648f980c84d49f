// SPDX-License-Identifier: Apache-2.0
#include "probe/tokenizers/bpe_tokenizer.h"

#include <array>

#include "locus/error.h"
#include "parse/byte_reader.h"
#include "probe/tokenizers/byte_tokens.h"
#include "probe/tokenizers/pair_merging.h"
#include "probe/tokenizers/unicode.h"

namespace locus::probe {

const char* const gpt2_pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

namespace {

std::vector<std::string> bytes_of(const BpeParts& parts) {
  const Vocabulary& vocabulary = parts.vocabulary;
  std::vector<std::string> all;
  for (std::size_t id = 0; id < vocabulary.spellings.size(); ++id) {
    const std::string& spelling = vocabulary.spellings[id];
    const TokenRole role = vocabulary.roles[id];
    const bool as_is = role == TokenRole::control || role == TokenRole::user_defined;
    const auto byte = parts.byte_fallback ? byte_token(spelling) : std::nullopt;
    if (as_is) {
      all.push_back(spelling);
    } else if (parts.byte_level) {
      all.push_back(from_byte_alphabet(spelling).value_or(spelling));
    } else {
      all.push_back(byte ? std::string(1, *byte) : replaced(spelling, parts.shown_as, " "));
    }
  }
  return all;
}

std::uint64_t key_of(TokenId left, TokenId right) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32U) | static_cast<std::uint32_t>(right);
}

class Bpe : public Tokenizer {
 public:
  Bpe(BpeParts parts, const std::string& name)
      : Tokenizer(parts.facts, bytes_of(parts), parts.added, parts.strips_leading_space),
        ids_(parts.vocabulary.normal_ids()),
        parts_(std::move(parts)) {
    double rank = 0;
    for (const auto& [left, right] : parts_.merges) {
      const auto joined = MergedPair<TokenId>{rank, id_of(left + right, name)};
      merges_.emplace(key_of(id_of(left, name), id_of(right, name)), joined);
      rank += 1;
    }
    for (unsigned byte = 0; byte < 256; ++byte) {
      const auto value = static_cast<unsigned char>(byte);
      const auto spelling =
          parts_.byte_level ? to_byte_alphabet({reinterpret_cast<const char*>(&value), 1}) : byte_token_spelling(value);
      byte_ids_[byte] = find(spelling);
    }
    parts_.merges = {};
    parts_.vocabulary = {};
  }

 private:
  std::optional<TokenId> find(const std::string& spelling) const {
    const auto found = ids_.find(spelling);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  TokenId id_of(const std::string& spelling, const std::string& name) const {
    const auto id = find(spelling);
    require(
        id.has_value(), name, ": a merge has the token ", [&] { return io::shown(spelling); },
        ", which is not in the vocabulary");
    return *id;
  }

  std::string normalized(std::string_view text, bool first) const {
    std::string result = parts_.space_prefix && !text.starts_with(' ') ? " " : "";
    if (parts_.form) {
      result += to_form(text, *parts_.form);
    } else {
      result += text;
    }
    if (!parts_.shown_as.empty()) result = replaced(result, " ", parts_.shown_as);
    const bool wanted = (first || !parts_.prefix_first_only) &&
                        !(parts_.prefix_if_missing && std::string_view(result).starts_with(parts_.prefix));
    return wanted ? parts_.prefix + result : result;
  }

  void encode_stretch(std::string_view text, bool first, std::vector<TokenId>& ids) const override {
    const std::string whole = normalized(text, first);
    for (const std::string_view word : split(whole, parts_.steps)) {
      if (parts_.whole_words) {
        const auto id = find(parts_.byte_level ? to_byte_alphabet(word) : std::string(word));
        if (id) {
          ids.push_back(*id);
          continue;
        }
      }
      const auto merged = merge_pairs(parts_.byte_level ? byte_symbols(word) : character_symbols(word),
                                      [&](TokenId left, TokenId right) -> std::optional<MergedPair<TokenId>> {
                                        const auto found = merges_.find(key_of(left, right));
                                        return found == merges_.end() ? std::nullopt : std::optional(found->second);
                                      });
      ids.insert(ids.end(), merged.begin(), merged.end());
    }
  }

  TokenId unknown_for(std::string_view character) const {
    require(unknown().has_value(), facts().kind, ": no token for the byte ",
            byte_token_spelling(static_cast<unsigned char>(character[0])), ", and no unknown token");
    return *unknown();
  }

  std::vector<TokenId> byte_symbols(std::string_view word) const {
    std::vector<TokenId> symbols;
    for (std::size_t at = 0; at < word.size(); ++at) {
      const auto id = byte_ids_[static_cast<unsigned char>(word[at])];
      symbols.push_back(id ? *id : unknown_for(word.substr(at, 1)));
    }
    return symbols;
  }

  std::vector<TokenId> character_symbols(std::string_view word) const {
    std::vector<TokenId> symbols;
    bool after_unknown = false;
    for (std::size_t at = 0; at < word.size();) {
      const std::string_view character = word.substr(at, character_at(word, at).size);
      at += character.size();
      if (const auto id = find(std::string(character))) {
        symbols.push_back(*id);
        after_unknown = false;
      } else if (spells_in_bytes(character)) {
        for (const char byte : character) symbols.push_back(*byte_ids_[static_cast<unsigned char>(byte)]);
        after_unknown = false;
      } else {
        if (!after_unknown || !parts_.fuse_unknown) symbols.push_back(unknown_for(character));
        after_unknown = true;
      }
    }
    return symbols;
  }

  bool spells_in_bytes(std::string_view character) const {
    if (!parts_.byte_fallback) return false;
    for (const char byte : character) {
      if (!byte_ids_[static_cast<unsigned char>(byte)]) return false;
    }
    return true;
  }

  std::unordered_map<std::string, TokenId> ids_;
  std::unordered_map<std::uint64_t, MergedPair<TokenId>> merges_;
  std::array<std::optional<TokenId>, 256> byte_ids_{};
  BpeParts parts_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_bpe(BpeParts parts, const std::string& name) {
  return std::make_unique<Bpe>(std::move(parts), name);
}

}  // namespace locus::probe
