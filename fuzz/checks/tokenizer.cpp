// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to a tokenizer whose ids are in its vocabulary, or throw locus::Error.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "checks.h"
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

namespace locus::fuzz {

void check_tokenizer(Bytes bytes) {
  try {
    use(*probe::make_tokenizer(io::parse_llama2c_tokenizer(bytes, "fuzz"), "fuzz"));
  } catch (const Error&) {
  }
  try {
    use(*probe::parse_tokenizer_json(text_in(bytes), "fuzz"));
  } catch (const Error&) {
  }
}

void check_gguf_tokenizer(Bytes bytes) {
  try {
    use(*probe::make_tokenizer(io::parse_gguf(bytes, "fuzz")));
  } catch (const Error&) {
  }
}

}  // namespace locus::fuzz
