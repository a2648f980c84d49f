// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to a tokenizer whose ids are in its vocabulary, or throw locus::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "locus/error.h"
#include "probe/tokenizers/tokenizer.h"

namespace {

using namespace locus;

void use(const probe::Tokenizer& tokenizer) {
  const std::string text = "It's 12 o'clock.\n\n  \xC3\xA9\xE2\x96\x81\xFF<s> ab  ";
  for (const bool special : {false, true}) {
    try {
      const auto ids = tokenizer.encode(text, {.bos = true, .special = special});
      for (const probe::TokenId id : ids) {
        if (id < 0 || id >= tokenizer.vocab_size()) std::abort();
      }
      (void)tokenizer.decode(ids);
    } catch (const Error&) {  // no token for a character, and no unknown token
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  try {
    use(*probe::make_tokenizer(io::parse_llama2c_tokenizer(bytes, "fuzz"), "fuzz"));
  } catch (const Error&) {
  }
  try {
    use(*probe::parse_tokenizer_json({reinterpret_cast<const char*>(data), size}, "fuzz"));
  } catch (const Error&) {
  }
  return 0;
}
