// SPDX-License-Identifier: Apache-2.0
// llama2.c files built from choices.
#pragma once

#include "choices.h"

namespace locus::fuzz {

inline std::string made_llama2c(Choices& choices) {
  const std::size_t kv_heads = 1 + choices.below(2), heads = kv_heads * (1 + choices.below(2));
  const std::size_t head_dim = 2 * (1 + choices.below(3)), dim = heads * head_dim, kv_dim = kv_heads * head_dim;
  const std::size_t hidden = 1 + choices.below(6), layers = 1 + choices.below(2), vocabulary = 1 + choices.below(6),
                    length = 1 + choices.below(6);
  const bool tied = !choices.flag();
  const auto signed_vocabulary = static_cast<std::int32_t>(vocabulary) * (tied ? 1 : -1);
  std::string file;
  for (const std::size_t number : {dim, hidden, layers, heads, kv_heads}) {
    put(file, static_cast<std::int32_t>(choices.fault() ? choices.integer() : static_cast<std::int64_t>(number)));
  }
  put(file, choices.fault() ? static_cast<std::int32_t>(choices.integer()) : signed_vocabulary);
  put(file, static_cast<std::int32_t>(choices.fault() ? choices.integer() : static_cast<std::int64_t>(length)));
  const std::size_t per_layer = dim + 2 * dim * dim + 2 * kv_dim * dim + dim + 3 * hidden * dim;
  const std::size_t weights = vocabulary * dim * (tied ? 1 : 2) + layers * per_layer + dim + length * head_dim;
  for (std::size_t i = 0; i < weights; ++i) put(file, static_cast<float>(i % 17) / 8 - 1);
  damage(file, choices);
  return file;
}

inline std::string made_llama2c_tokenizer(Choices& choices) {
  std::string tokens;
  std::size_t longest = 0;
  for (std::size_t i = choices.below(24); i > 0; --i) {
    const std::string text = choices.text();
    longest = std::max(longest, text.size());
    put(tokens, static_cast<float>(choices.real()));
    put(tokens,
        static_cast<std::int32_t>(choices.fault() ? choices.integer() : static_cast<std::int64_t>(text.size())));
    tokens += text;
  }
  std::string file;
  put(file, static_cast<std::int32_t>(choices.fault() ? choices.integer() : static_cast<std::int64_t>(longest)));
  file += tokens;
  damage(file, choices);
  return file;
}

}  // namespace locus::fuzz
