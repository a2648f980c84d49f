// SPDX-License-Identifier: Apache-2.0
// A version-0 checkpoint has: seven int32 (dim, hidden_dim, layers, heads, kv_heads, vocab_size, seq_len; a negative
// vocab_size means that the classifier has separate weights), then float32 weights, each for all layers in order: token
// embedding, attention norm, wq, wk, wv, wo, feed-forward norm, w1, w2, w3, final norm, two unused tables of seq_len x
// head_dim / 2, and the classifier if it is not tied. A tokenizer has: int32 max token length, then per token a float32
// score, an int32 length and the bytes.
#include "locus/io/llama2c.h"

#include <initializer_list>
#include <limits>
#include <utility>

#include "parse/byte_reader.h"

namespace locus::io {
namespace {

constexpr std::size_t alignment_of_weights = alignof(float);

Llama2cConfig take_config(ByteReader& reader) {
  const std::string& name = reader.name();
  Llama2cConfig config;
  struct Field {
    const char* name;
    std::int32_t& value;
  };
  const std::initializer_list<Field> fields = {
      {"dim", config.dim},         {"hidden_dim", config.hidden_dim}, {"n_layers", config.layers},
      {"n_heads", config.heads},   {"n_kv_heads", config.kv_heads},   {"vocab_size", config.vocab_size},
      {"seq_len", config.seq_len},
  };
  for (const Field& field : fields) {
    field.value = reader.number<std::int32_t>("the header");
    require(field.value != llama2c_later_magic || &field.value != &config.dim, name,
            ": llama2.c checkpoints of version 1 and 2 are not supported; export with --version 0");
    if (&field.value == &config.vocab_size && field.value < 0) {
      config.tied_classifier = false;
      require(field.value != std::numeric_limits<std::int32_t>::min(), name, ": vocab_size must not be -2^31");
      field.value = -field.value;
    }
    require(field.value > 0, name, ": ", field.name, " must be positive, got ", field.value);
  }
  require(config.dim % config.heads == 0, name, ": dim must be a multiple of n_heads (", config.heads, "), got ",
          config.dim);
  require(config.head_dim() % 2 == 0, name, ": dim / n_heads must be even to be rotated, got ", config.head_dim());
  require(config.heads % config.kv_heads == 0, name, ": n_heads must be a multiple of n_kv_heads (", config.kv_heads,
          "), got ", config.heads);
  return config;
}

std::span<const float> take_weights(ByteReader& reader, std::initializer_list<std::int32_t> lengths,
                                    std::string_view what) {
  std::uint64_t size = sizeof(float);
  for (const std::int32_t length : lengths) {
    size = checked_multiply(size, static_cast<std::uint64_t>(length), reader.name(), ": ", what);
  }
  const auto bytes = reader.take(size, what);
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace

Llama2cModel parse_llama2c(std::span<const std::byte> file, const std::string& name) {
  require(reinterpret_cast<std::uintptr_t>(file.data()) % alignment_of_weights == 0, name,
          ": the memory of a llama2.c checkpoint must be aligned to ", alignment_of_weights, " bytes");
  ByteReader reader(file, name);
  Llama2cModel model;
  model.config = take_config(reader);
  const Llama2cConfig& c = model.config;
  model.token_embedding = take_weights(reader, {c.vocab_size, c.dim}, "the token embedding");
  model.attention_norm = take_weights(reader, {c.layers, c.dim}, "the attention norm");
  model.wq = take_weights(reader, {c.layers, c.dim, c.dim}, "wq");
  model.wk = take_weights(reader, {c.layers, c.kv_dim(), c.dim}, "wk");
  model.wv = take_weights(reader, {c.layers, c.kv_dim(), c.dim}, "wv");
  model.wo = take_weights(reader, {c.layers, c.dim, c.dim}, "wo");
  model.ffn_norm = take_weights(reader, {c.layers, c.dim}, "the feed-forward norm");
  model.w1 = take_weights(reader, {c.layers, c.hidden_dim, c.dim}, "w1");
  model.w2 = take_weights(reader, {c.layers, c.dim, c.hidden_dim}, "w2");
  model.w3 = take_weights(reader, {c.layers, c.hidden_dim, c.dim}, "w3");
  model.final_norm = take_weights(reader, {c.dim}, "the final norm");
  take_weights(reader, {c.seq_len, c.head_dim() / 2}, "the first unused table");
  take_weights(reader, {c.seq_len, c.head_dim() / 2}, "the second unused table");
  model.classifier = model.token_embedding;
  if (!c.tied_classifier) model.classifier = take_weights(reader, {c.vocab_size, c.dim}, "the classifier");
  require(reader.remaining() == 0, name, ": must end after its weights, ", reader.remaining(), " bytes are left over");
  return model;
}

Llama2cModel read_llama2c(const std::filesystem::path& path) {
  auto mapping = std::make_shared<const MappedFile>(path);
  Llama2cModel model = parse_llama2c(mapping->bytes(), mapping->name());
  model.mapping = std::move(mapping);
  return model;
}

Llama2cTokenizer parse_llama2c_tokenizer(std::span<const std::byte> file, const std::string& name,
                                         std::optional<std::int32_t> vocab_size) {
  ByteReader reader(file, name);
  Llama2cTokenizer tokenizer;
  tokenizer.max_token_length = reader.number<std::int32_t>("the largest token length");
  require(tokenizer.max_token_length > 0, name, ": the largest token length must be positive, got ",
          tokenizer.max_token_length);
  while (reader.remaining() > 0) {
    Llama2cTokenizer::Token token;
    token.score = reader.number<float>("a token's score");
    const auto length = reader.number<std::int32_t>("a token's length");
    require(length >= 0 && length <= tokenizer.max_token_length, name, ": the length of token ",
            tokenizer.tokens.size(), " must be from 0 to ", tokenizer.max_token_length, ", got ", length);
    token.bytes = text_of(reader.take(static_cast<std::uint64_t>(length), "a token"));
    tokenizer.tokens.push_back(std::move(token));
  }
  require(!vocab_size || std::cmp_equal(tokenizer.tokens.size(), *vocab_size), name, ": must have ",
          vocab_size.value_or(0), " tokens, as many as the model's vocabulary, got ", tokenizer.tokens.size());
  return tokenizer;
}

Llama2cTokenizer read_llama2c_tokenizer(const std::filesystem::path& path, std::optional<std::int32_t> vocab_size) {
  const MappedFile file(path);
  return parse_llama2c_tokenizer(file.bytes(), file.name(), vocab_size);
}

}  // namespace locus::io
