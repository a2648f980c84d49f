// SPDX-License-Identifier: Apache-2.0
#include "random_llama.h"

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>

#include "attention_problem.h"
#include "locus/io/gguf_blocks.h"
#include "probe/network.h"

namespace locus::bench {
namespace {

using probe::WeightType;

constexpr std::int64_t width = 1024, heads = 16, key_heads = 4, head_dim = 64, inner = 2816, vocabulary = 32000;

struct Part {
  std::string name;  ///< as in GGUF, without ".weight"
  MatrixShape shape;
};

constexpr MatrixShape embedding{vocabulary, width};

std::vector<Part> parts_of_layer(std::int64_t layer) {
  const std::string before = "blk." + std::to_string(layer) + ".";
  return {{before + "attn_q", {heads * head_dim, width}},
          {before + "attn_k", {key_heads * head_dim, width}},
          {before + "attn_v", {key_heads * head_dim, width}},
          {before + "attn_output", {width, heads * head_dim}},
          {before + "ffn_gate", {inner, width}},
          {before + "ffn_up", {inner, width}},
          {before + "ffn_down", {width, inner}}};
}

std::int64_t bytes_of(WeightType type, const MatrixShape& shape) {
  const io::GgufBlock& block = *io::find_gguf_block(type);
  return shape.rows * shape.columns / static_cast<std::int64_t>(block.elements) *
         static_cast<std::int64_t>(block.bytes);
}

// Any two of these bytes form a float16 of about 0.01, so every block is valid.
void fill_blocks(Buffer& buffer) {
  std::mt19937 random(7);
  std::array<std::uint8_t, 65521> bytes;
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(0x20 + random() % 8);
  auto* const out = static_cast<std::uint8_t*>(buffer.data());
  for (std::size_t i = 0; i < buffer.bytes(); ++i) out[i] = bytes[i % bytes.size()];
}

// 16-bit halves of a bfloat16 or float32 of about 0.01.
void fill_floats(Buffer& buffer, WeightType type) {
  fill_normal(buffer, 7);
  for (std::size_t i = 0; i < buffer.count(); ++i) buffer.floats()[i] *= 0.01f;
  if (type == WeightType::f32) return;
  auto* const halves = static_cast<std::uint16_t*>(buffer.data());
  for (std::size_t i = 0; i < buffer.count(); ++i) halves[2 * i] = halves[2 * i + 1];
}

std::vector<Part> parts_of(std::int64_t layers) {
  std::vector<Part> parts = {{"token_embd", embedding}};
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (Part& part : parts_of_layer(layer)) parts.push_back(std::move(part));
  }
  return parts;
}

std::int64_t bytes_of(WeightType type, const std::vector<Part>& parts) {
  std::int64_t bytes = 0;
  for (const Part& part : parts) bytes += bytes_of(type, part.shape);
  return bytes;
}

std::shared_ptr<Buffer> make_weights(WeightType type, std::int64_t layers) {
  const std::int64_t bytes = bytes_of(type, parts_of(layers));
  auto weights = std::make_shared<Buffer>(static_cast<std::size_t>((bytes + 4095) / 4096 * 4096));
  if (type == WeightType::f32 || type == WeightType::bf16) {
    fill_floats(*weights, type);
  } else {
    fill_blocks(*weights);
  }
  return weights;
}

probe::Model make_model(WeightType type, std::int64_t layers, const std::shared_ptr<Buffer>& weights) {
  std::map<std::string, probe::StoredTensor> tensors;
  const auto* at = static_cast<const std::byte*>(weights->data());
  for (const Part& part : parts_of(layers)) {
    const std::string name = part.name + ".weight";
    const auto bytes = static_cast<std::size_t>(bytes_of(type, part.shape));
    tensors[name] = {name, type, {part.shape.rows, part.shape.columns}, std::span(at, bytes)};
    at += bytes;
  }
  static const std::vector<float> ones(width, 1.0f);
  const auto add_norm = [&](const std::string& name) {
    tensors[name] = {name, WeightType::f32, {width}, std::as_bytes(std::span(ones))};
  };
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    add_norm("blk." + std::to_string(layer) + ".attn_norm.weight");
    add_norm("blk." + std::to_string(layer) + ".ffn_norm.weight");
  }
  add_norm("output_norm.weight");

  probe::Source source;
  source.file = "a random model";
  source.config = {.architecture = "llama",
                   .format = "gguf",
                   .layers = layers,
                   .heads = heads,
                   .kv_heads = key_heads,
                   .head_dim = head_dim,
                   .dim = width,
                   .feed_forward = inner,
                   .vocab = vocabulary,
                   .trained_length = 2048,
                   .tied_head = true};
  source.encoding.scheme = "rope";
  source.encoding.arguments = {{"head_dim", head_dim}, {"pairing", std::string("interleaved")}};
  source.find = [&tensors](const std::string& name) -> std::optional<probe::StoredTensor> {
    const auto found = tensors.find(name);
    return found == tensors.end() ? std::nullopt : std::optional(found->second);
  };
  source.keeps = weights;
  return probe::Model(probe::make_llama(source));
}

}  // namespace

RandomLlama::RandomLlama(WeightType type, std::int64_t layers)
    : weights_(make_weights(type, layers)), model_(make_model(type, layers, weights_)) {}

std::int64_t RandomLlama::layers_for(WeightType type, std::int64_t bytes) {
  const std::int64_t one = bytes_of(type, parts_of_layer(0));
  return std::max<std::int64_t>(1, (bytes - bytes_of(type, embedding) + one - 1) / one);
}

std::vector<MatrixShape> RandomLlama::matrices_of_layer() {
  std::vector<MatrixShape> shapes;
  for (const Part& part : parts_of_layer(0)) shapes.push_back(part.shape);
  return shapes;
}

}  // namespace locus::bench
