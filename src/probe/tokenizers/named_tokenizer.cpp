// SPDX-License-Identifier: Apache-2.0
// The tokenizers of the lab's models: one token per byte, or per character of a given list.
#include <map>

#include "locus/error.h"
#include "probe/tokenizers/tokenizer.h"
#include "probe/tokenizers/unicode.h"

namespace locus::probe {
namespace {

/// One token per byte, by its value.
class ByteTokenizer : public Tokenizer {
 public:
  ByteTokenizer() : Tokenizer({"bytes", {}, {}, {}}, all_bytes(), {}, false) {}

 private:
  static std::vector<std::string> all_bytes() {
    std::vector<std::string> bytes;
    for (int value = 0; value < 256; ++value) bytes.emplace_back(1, static_cast<char>(value));
    return bytes;
  }
  void encode_stretch(std::string_view text, bool, std::vector<TokenId>& ids) const override {
    for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
  }
};

class CharacterTokenizer : public Tokenizer {
 public:
  CharacterTokenizer(const std::vector<std::string>& characters, std::string file)
      : Tokenizer({"characters", {}, {}, {}}, characters, {}, false), file_(std::move(file)) {
    for (const std::string& character : characters) {
      require(!character.empty() && character_at(character, 0).size == character.size(), file_,
              ": a token must be one character, got \"", character, "\"");
      ids_.emplace(character, static_cast<TokenId>(ids_.size()));
    }
    require(ids_.size() == characters.size(), file_, ": two tokens are the same character");
  }

 private:
  void encode_stretch(std::string_view text, bool, std::vector<TokenId>& ids) const override {
    for (std::size_t at = 0; at < text.size();) {
      const std::string_view character = text.substr(at, character_at(text, at).size);
      const auto found = ids_.find(character);
      require(found != ids_.end(), file_, ": the model has no token for \"", character, "\"; it knows ", known());
      ids.push_back(found->second);
      at += character.size();
    }
  }
  std::string known() const {
    std::string all;
    for (const auto& entry : ids_) all += entry.first == "\n" ? "" : entry.first;
    return all;
  }

  std::map<std::string, TokenId, std::less<>> ids_;
  std::string file_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_character_tokenizer(const std::vector<std::string>& characters,
                                                    const std::string& file) {
  return std::make_unique<CharacterTokenizer>(characters, file);
}

std::unique_ptr<Tokenizer> make_named_tokenizer(std::string_view tokenizer, const std::string& file) {
  require(tokenizer != "none", file, ": the tokens of this model are not text: give token ids instead of text");
  require(tokenizer == "bytes", file, ": the tokenizer must be \"bytes\", \"characters\" or \"none\", got \"",
          tokenizer.substr(0, 80), "\"");
  return std::make_unique<ByteTokenizer>();
}

}  // namespace locus::probe
