// SPDX-License-Identifier: Apache-2.0
// Reads checkpoints (version 0) and tokenizers of llama2.c.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "locus/io/mapped_file.h"

namespace locus::io {

/// "24ka" as bytes: the first bytes of checkpoints of versions 1 and 2, which are not supported.
inline constexpr std::int32_t llama2c_later_magic = 0x616b3432;

struct Llama2cConfig {
  std::int32_t dim = 0, hidden_dim = 0, layers = 0, heads = 0, kv_heads = 0, vocab_size = 0, seq_len = 0;
  bool tied_classifier = true;  ///< the classifier is the token embedding

  std::int32_t head_dim() const { return dim / heads; }
  std::int32_t kv_dim() const { return head_dim() * kv_heads; }
};

/// A model of the Llama architecture: RoPE with base 10000 and interleaved pairs. Weights point into the file, in C
/// order.
struct Llama2cModel {
  Llama2cConfig config;
  std::span<const float> token_embedding;               ///< vocab_size x dim
  std::span<const float> attention_norm, ffn_norm;      ///< layers x dim
  std::span<const float> wq, wo;                        ///< layers x dim x dim
  std::span<const float> wk, wv;                        ///< layers x kv_dim x dim
  std::span<const float> w1, w3;                        ///< layers x hidden_dim x dim
  std::span<const float> w2;                            ///< layers x dim x hidden_dim
  std::span<const float> final_norm;                    ///< dim
  std::span<const float> classifier;                    ///< vocab_size x dim
  std::shared_ptr<const MappedFile> mapping = nullptr;  ///< keeps the file open; null when parsed from memory
};

/// Maps a checkpoint.
/// Error: a malformed file, also one whose size does not match its seven numbers.
Llama2cModel read_llama2c(const std::filesystem::path& path);
/// Parses a checkpoint in memory, which must be aligned to 4 bytes and outlive the result. `name` starts every
/// message.
Llama2cModel parse_llama2c(std::span<const std::byte> file, const std::string& name);

struct Llama2cTokenizer {
  struct Token {
    std::string bytes;
    float score = 0;
  };
  std::int32_t max_token_length = 0;
  std::vector<Token> tokens;
};

/// Reads a tokenizer. The file does not state the number of tokens; pass the model's `vocab_size` to check it.
/// Error: a malformed file, another number of tokens than `vocab_size`.
Llama2cTokenizer read_llama2c_tokenizer(const std::filesystem::path& path,
                                        std::optional<std::int32_t> vocab_size = std::nullopt);
Llama2cTokenizer parse_llama2c_tokenizer(std::span<const std::byte> file, const std::string& name,
                                         std::optional<std::int32_t> vocab_size = std::nullopt);

}  // namespace locus::io
