// SPDX-License-Identifier: Apache-2.0
// Tokenizers that need a name but no vocabulary; models of the lab use them.
#include "locus/error.h"
#include "probe/tokenizers/tokenizer.h"

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

}  // namespace

std::unique_ptr<Tokenizer> make_named_tokenizer(std::string_view tokenizer, const std::string& file) {
  require(tokenizer != "none", file, ": the tokens of this model are not text: give token ids instead of text");
  require(tokenizer == "bytes", file, ": the tokenizer must be \"bytes\" or \"none\", got \"", tokenizer.substr(0, 80),
          "\"");
  return std::make_unique<ByteTokenizer>();
}

}  // namespace locus::probe
