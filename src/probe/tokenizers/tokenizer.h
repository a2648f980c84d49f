// SPDX-License-Identifier: Apache-2.0
// Text to token ids and back, whatever file the vocabulary came from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locus/io/gguf.h"
#include "locus/io/llama2c.h"

namespace locus::probe {

using TokenId = std::int32_t;

struct EncodeOptions {
  std::optional<bool> bos =
      {};                ///< the beginning-of-sequence token first, where there is one; absent: as the file asks
  bool special = false;  ///< the spelling of a control token in the text stands for the token
};

/// What a vocabulary says of itself beside its tokens.
struct TokenizerFacts {
  std::string kind;  ///< as messages show it, e.g. "GGUF gpt2 (llama-bpe)"
  std::optional<TokenId> bos, eos, unknown;
  bool adds_bos = false;  ///< the file asks for a beginning-of-sequence token in front of every text
};

/// A token whose spelling is looked for in the text before anything else.
struct AddedToken {
  std::string text;
  TokenId id = 0;
  bool control = true;  ///< looked for only on request; a token that is not is looked for always
  bool strips_left = false, strips_right = false;  ///< white space beside it belongs to it
};

/// Immutable, safe to share between threads. Encoding takes O(n log n) for n bytes.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  const TokenizerFacts& facts() const { return facts_; }
  std::optional<TokenId> bos() const { return facts_.bos; }
  std::optional<TokenId> eos() const { return facts_.eos; }
  std::optional<TokenId> unknown() const { return facts_.unknown; }
  std::int32_t vocab_size() const { return static_cast<std::int32_t>(bytes_.size()); }

  /// Any bytes are accepted; those that are no UTF-8 are taken one by one. Error where the vocabulary has no token for
  /// a character and none for the unknown.
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// The bytes that the tokens stand for; control tokens stand for none. Error for an id outside the vocabulary.
  std::string decode(std::span<const TokenId> ids) const;
  /// What `token` adds to the text after `previous` (none: the text starts here). Bytes, not always whole characters.
  std::string piece(TokenId token, std::optional<TokenId> previous) const;

 protected:
  /// `bytes` has one entry per token: what it stands for. `leading_space`: encoding puts a space in front of a text, so
  /// decoding takes one away.
  Tokenizer(TokenizerFacts facts, std::vector<std::string> bytes, std::vector<AddedToken> added, bool leading_space);

  /// Appends the ids of a stretch without added tokens; `first` where the text starts with it.
  virtual void encode_stretch(std::string_view text, bool first, std::vector<TokenId>& ids) const = 0;

 private:
  const AddedToken* added_at(std::string_view text, std::size_t at, bool special) const;
  void check(TokenId token) const;
  /// The text starts at this token: nothing but control tokens came before.
  bool starts_text(std::optional<TokenId> previous) const;

  TokenizerFacts facts_;
  std::vector<std::string> bytes_;
  std::vector<bool> control_;
  std::vector<std::vector<AddedToken>> added_;  ///< by first byte, longest first
  bool leading_space_;
};

/// The tokenizer of llama2.c, by the rules of its run.c.
std::unique_ptr<Tokenizer> make_tokenizer(const io::Llama2cTokenizer& file, const std::string& name);
/// The tokenizer inside a GGUF file: models "llama" (SentencePiece-style) and "gpt2" (byte-level BPE), and the names of
/// make_named_tokenizer.
std::unique_ptr<Tokenizer> make_tokenizer(const io::GgufFile& file);
/// One that needs no vocabulary: "bytes". "none" is refused with a message that says what to give instead of text.
std::unique_ptr<Tokenizer> make_named_tokenizer(std::string_view tokenizer, const std::string& file);
/// A Hugging Face tokenizer.json with a BPE model. `config` is the text of tokenizer_config.json, empty where absent:
/// only there do the beginning and end of a sequence have names.
std::unique_ptr<Tokenizer> parse_tokenizer_json(std::string_view json, const std::string& name,
                                                std::string_view config = {});

/// By what the path is: a folder with tokenizer.json (or tokenizer.bin, or a config.json that names one), a .json,
/// .gguf or .bin file. A tokenizer.bin must have `vocab_size` tokens where that is given; others at most that many
/// (embeddings are often padded).
std::unique_ptr<Tokenizer> read_tokenizer(const std::filesystem::path& path,
                                          std::optional<std::int32_t> vocab_size = std::nullopt);

/// The tokenizer that comes with a model: inside its GGUF file, in its folder, or, for a llama2.c checkpoint, the only
/// tok*.bin beside it. `vocab_size` as for read_tokenizer.
std::unique_ptr<Tokenizer> read_model_tokenizer(const std::filesystem::path& model,
                                                std::optional<std::int32_t> vocab_size = std::nullopt);

}  // namespace locus::probe
