// SPDX-License-Identifier: Apache-2.0
// Converts text to token ids and back, for every vocabulary format.
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
  std::optional<bool> bos = {};  ///< add the beginning-of-sequence token, if there is one; absent: as the file states
  bool special = false;          ///< parse control tokens in the text as tokens
};

/// What a vocabulary file states in addition to its tokens.
struct TokenizerFacts {
  std::string kind;  ///< for messages, e.g. "GGUF gpt2 (llama-bpe)"
  std::optional<TokenId> bos, eos, unknown;
  bool adds_bos = false;  ///< the file wants a beginning-of-sequence token before every text
};

/// A token whose spelling is searched for in the text first.
struct AddedToken {
  std::string text;
  TokenId id = 0;
  bool control = true;                             ///< searched for only on request; other added tokens always
  bool strips_left = false, strips_right = false;  ///< adjacent white space belongs to it
};

/// Immutable, safe to share between threads. Cost of encoding: O(n log n) for n bytes.
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

  /// Encodes any bytes; bytes that are not UTF-8 are encoded individually.
  /// Error: a character without a token, if there is no unknown token.
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const;
  /// Returns the bytes of the tokens; control tokens have none.
  /// Error: an id outside the vocabulary.
  std::string decode(std::span<const TokenId> ids) const;
  /// Returns the bytes that `token` adds after `previous` (none: the text starts here); not always whole characters.
  std::string piece(TokenId token, std::optional<TokenId> previous) const;

 protected:
  /// `bytes` holds the bytes of each token. `leading_space`: encoding adds a space before a text, so decoding removes
  /// one.
  Tokenizer(TokenizerFacts facts, std::vector<std::string> bytes, std::vector<AddedToken> added, bool leading_space);

  /// Appends the ids of a piece without added tokens; `first` if the text starts with it.
  virtual void encode_stretch(std::string_view text, bool first, std::vector<TokenId>& ids) const = 0;

 private:
  const AddedToken* added_at(std::string_view text, std::size_t at, bool special) const;
  void check(TokenId token) const;
  /// Whether the text starts at this token: only control tokens precede it.
  bool starts_text(std::optional<TokenId> previous) const;

  TokenizerFacts facts_;
  std::vector<std::string> bytes_;
  std::vector<bool> control_;
  std::vector<std::vector<AddedToken>> added_;  ///< by first byte, longest first
  bool leading_space_;
};

/// Makes the tokenizer of llama2.c, by the rules of its run.c.
std::unique_ptr<Tokenizer> make_tokenizer(const io::Llama2cTokenizer& file, const std::string& name);
/// Makes the tokenizer of a GGUF file: models "llama" (SentencePiece-style) and "gpt2" (byte-level BPE), and those of
/// the lab: "characters", with a list of them, "bytes" and "none".
std::unique_ptr<Tokenizer> make_tokenizer(const io::GgufFile& file);
/// Makes a tokenizer without a vocabulary: "bytes".
/// Error: "none"; the message says what to give instead of text.
std::unique_ptr<Tokenizer> make_named_tokenizer(std::string_view tokenizer, const std::string& file);
/// Makes a tokenizer with one token per character of the list, in its order. `file` starts every message.
/// Error: a token that is not one character of UTF-8, or two that are equal.
std::unique_ptr<Tokenizer> make_character_tokenizer(const std::vector<std::string>& characters,
                                                    const std::string& file);
/// Parses a Hugging Face tokenizer.json with a BPE model. `config` is the text of tokenizer_config.json, or empty;
/// only that file names the beginning and end of a sequence.
std::unique_ptr<Tokenizer> parse_tokenizer_json(std::string_view json, const std::string& name,
                                                std::string_view config = {});

/// Reads a folder with tokenizer.json (or tokenizer.bin, or a config.json that names a tokenizer), or a .json, .gguf
/// or .bin file.
/// Error: a tokenizer.bin that does not have `vocab_size` tokens, if given; other files with more (embeddings are
/// often padded).
std::unique_ptr<Tokenizer> read_tokenizer(const std::filesystem::path& path,
                                          std::optional<std::int32_t> vocab_size = std::nullopt);

/// Reads the tokenizer of a model: in its GGUF file, in its folder or, for a llama2.c checkpoint, the only tok*.bin
/// in its folder. `vocab_size` as in read_tokenizer().
std::unique_ptr<Tokenizer> read_model_tokenizer(const std::filesystem::path& model,
                                                std::optional<std::int32_t> vocab_size = std::nullopt);

}  // namespace locus::probe
