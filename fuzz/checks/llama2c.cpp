// SPDX-License-Identifier: Apache-2.0
// Any bytes either parse to weights inside them, or throw locus::Error; the same holds for a tokenizer.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "checks.h"
#include "locus/error.h"
#include "locus/io/llama2c.h"

namespace locus::fuzz {

void check_llama2c(Bytes bytes) {
  try {
    const auto model = locus::io::parse_llama2c(bytes, "fuzz");
    const auto* const end = reinterpret_cast<const float*>(bytes.data() + bytes.size());
    for (const auto weights : {model.token_embedding, model.wq, model.wk, model.wv, model.wo, model.w1, model.w2,
                               model.w3, model.final_norm, model.attention_norm, model.ffn_norm, model.classifier}) {
      if (weights.empty() || weights.data() + weights.size() > end) std::abort();
    }
  } catch (const locus::Error&) {
  }
  try {
    std::size_t length = 0;
    for (const auto& token : locus::io::parse_llama2c_tokenizer(bytes, "fuzz").tokens) length += token.bytes.size() + 8;
    if (length > bytes.size()) std::abort();
  } catch (const locus::Error&) {
  }
}

}  // namespace locus::fuzz
