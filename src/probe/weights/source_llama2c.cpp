// SPDX-License-Identifier: Apache-2.0
// Reads a llama2.c checkpoint with the tensor names of a Hugging Face Llama; its pairs are interleaved.
#include <map>

#include "locus/io/llama2c.h"
#include "probe/weights/source.h"

namespace locus::probe {
namespace {

using Tensors = std::map<std::string, StoredTensor>;

void add(Tensors& tensors, const std::string& name, std::span<const float> values, std::vector<std::int64_t> shape) {
  tensors[name] = {name, WeightType::f32, std::move(shape), std::as_bytes(values)};
}

/// Adds one tensor per layer from an array over all layers.
void add_layers(Tensors& tensors, const std::string& name, std::span<const float> values, std::int64_t layers,
                const std::vector<std::int64_t>& shape) {
  const std::size_t size = values.size() / static_cast<std::size_t>(layers);
  for (std::int64_t i = 0; i < layers; ++i) {
    add(tensors, "model.layers." + std::to_string(i) + "." + name + ".weight",
        values.subspan(static_cast<std::size_t>(i) * size, size), shape);
  }
}

Tensors tensors_of(const io::Llama2cModel& model) {
  const io::Llama2cConfig& c = model.config;
  const std::int64_t dim = c.dim, keys = c.kv_dim(), inner = c.hidden_dim, vocab = c.vocab_size;
  Tensors tensors;
  add(tensors, "model.embed_tokens.weight", model.token_embedding, {vocab, dim});
  add(tensors, "model.norm.weight", model.final_norm, {dim});
  add(tensors, "lm_head.weight", model.classifier, {vocab, dim});
  add_layers(tensors, "input_layernorm", model.attention_norm, c.layers, {dim});
  add_layers(tensors, "post_attention_layernorm", model.ffn_norm, c.layers, {dim});
  add_layers(tensors, "self_attn.q_proj", model.wq, c.layers, {dim, dim});
  add_layers(tensors, "self_attn.k_proj", model.wk, c.layers, {keys, dim});
  add_layers(tensors, "self_attn.v_proj", model.wv, c.layers, {keys, dim});
  add_layers(tensors, "self_attn.o_proj", model.wo, c.layers, {dim, dim});
  add_layers(tensors, "mlp.gate_proj", model.w1, c.layers, {inner, dim});
  add_layers(tensors, "mlp.down_proj", model.w2, c.layers, {dim, inner});
  add_layers(tensors, "mlp.up_proj", model.w3, c.layers, {inner, dim});
  return tensors;
}

}  // namespace

Source open_llama2c(const std::filesystem::path& path) {
  const auto model = std::make_shared<const io::Llama2cModel>(io::read_llama2c(path));
  const io::Llama2cConfig& c = model->config;
  Source source;
  source.file = path.string();
  source.config = {.architecture = "llama",
                   .format = "llama2c",
                   .layers = c.layers,
                   .heads = c.heads,
                   .kv_heads = c.kv_heads,
                   .head_dim = c.head_dim(),
                   .dim = c.dim,
                   .feed_forward = c.hidden_dim,
                   .vocab = c.vocab_size,
                   .trained_length = c.seq_len,
                   .norm_epsilon = 1e-5,
                   .tied_head = c.tied_classifier,
                   .weight_bytes = static_cast<std::int64_t>(model->mapping->bytes().size())};
  source.encoding.scheme = "rope";
  source.encoding.arguments = {{"head_dim", std::int64_t{c.head_dim()}},
                               {"pairing", std::string("interleaved")},
                               {"base", 10000.0},
                               {"max_length", std::int64_t{c.seq_len}}};
  source.find = [tensors = tensors_of(*model)](const std::string& name) -> std::optional<StoredTensor> {
    const auto found = tensors.find(name);
    if (found == tensors.end()) return {};
    return found->second;
  };
  source.keeps = model;
  return source;
}

}  // namespace locus::probe
