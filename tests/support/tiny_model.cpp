// SPDX-License-Identifier: Apache-2.0
#include "support/tiny_model.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>

#include "locus/element.h"

namespace locus::testing {
namespace {

using Shape = std::vector<std::int64_t>;

/// Adds random tensors: weights that keep the size of their input, norms around 1, small biases.
class Filler {
 public:
  Filler(TinyModel& model, std::uint64_t seed) : model_(model), random_(seed) {}

  void matrix(const std::string& name, std::int64_t rows, std::int64_t columns, std::int64_t inputs) {
    fill(name, {rows, columns}, 0, 1.5 / std::sqrt(static_cast<double>(inputs)));
  }
  void linear(const std::string& name, std::int64_t rows, std::int64_t columns, bool bias) {
    matrix(name + ".weight", rows, columns, columns);
    if (bias) fill(name + ".bias", {rows}, 0, 0.3);
  }
  void conv1d(const std::string& name, std::int64_t inputs, std::int64_t outputs) {
    matrix(name + ".weight", inputs, outputs, inputs);
    fill(name + ".bias", {outputs}, 0, 0.3);
  }
  void norm(const std::string& name, std::int64_t width, bool bias) {
    fill(name + ".weight", {width}, 1, 0.3);
    if (bias) fill(name + ".bias", {width}, 0, 0.3);
  }
  void table(const std::string& name, std::int64_t rows, std::int64_t columns) { fill(name, {rows, columns}, 0, 1); }

 private:
  void fill(const std::string& name, Shape shape, double mean, double spread) {
    std::size_t count = 1;
    for (const std::int64_t length : shape) count *= static_cast<std::size_t>(length);
    std::normal_distribution<double> normal(mean, spread);
    TinyTensor tensor{std::move(shape), std::vector<float>(count)};
    for (float& value : tensor.values) value = static_cast<float>(normal(random_));
    model_.tensors[name] = std::move(tensor);
  }
  TinyModel& model_;
  std::mt19937_64 random_;
};

void fill_llama(TinyModel& model, Filler& fill) {
  const TinySizes& s = model.sizes;
  const bool biases = model.architecture == "qwen2", norms = model.architecture == "qwen3";
  fill.table("model.embed_tokens.weight", s.vocab, s.dim);
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    fill.norm(layer + "input_layernorm", s.dim, false);
    fill.norm(layer + "post_attention_layernorm", s.dim, false);
    fill.linear(layer + "self_attn.q_proj", s.heads * s.head_dim, s.dim, biases);
    fill.linear(layer + "self_attn.k_proj", s.kv_heads * s.head_dim, s.dim, biases);
    fill.linear(layer + "self_attn.v_proj", s.kv_heads * s.head_dim, s.dim, biases);
    fill.linear(layer + "self_attn.o_proj", s.dim, s.heads * s.head_dim, false);
    fill.linear(layer + "mlp.gate_proj", s.feed_forward, s.dim, false);
    fill.linear(layer + "mlp.up_proj", s.feed_forward, s.dim, false);
    fill.linear(layer + "mlp.down_proj", s.dim, s.feed_forward, false);
    if (norms) fill.norm(layer + "self_attn.q_norm", s.head_dim, false);
    if (norms) fill.norm(layer + "self_attn.k_norm", s.head_dim, false);
  }
  fill.norm("model.norm", s.dim, false);
  if (!model.tied) fill.linear("lm_head", s.vocab, s.dim, false);
  model.config = {{"hidden_size", s.dim},
                  {"num_hidden_layers", s.layers},
                  {"num_attention_heads", s.heads},
                  {"num_key_value_heads", s.kv_heads},
                  {"head_dim", s.head_dim},
                  {"intermediate_size", s.feed_forward},
                  {"max_position_embeddings", s.length},
                  {"rms_norm_eps", 1e-5},
                  {"rope_theta", 5000.0},
                  {"hidden_act", "silu"}};
  if (model.architecture == "mistral") model.config["sliding_window"] = 5;
}

void fill_gpt2(TinyModel& model, Filler& fill) {
  const TinySizes& s = model.sizes;
  fill.table("transformer.wte.weight", s.vocab, s.dim);
  fill.table("transformer.wpe.weight", s.length, s.dim);
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const std::string layer = "transformer.h." + std::to_string(i) + ".";
    fill.norm(layer + "ln_1", s.dim, true);
    fill.norm(layer + "ln_2", s.dim, true);
    fill.conv1d(layer + "attn.c_attn", s.dim, 3 * s.dim);
    fill.conv1d(layer + "attn.c_proj", s.dim, s.dim);
    fill.conv1d(layer + "mlp.c_fc", s.dim, s.feed_forward);
    fill.conv1d(layer + "mlp.c_proj", s.feed_forward, s.dim);
  }
  fill.norm("transformer.ln_f", s.dim, true);
  model.tied = true;
  model.config = {{"n_embd", s.dim},
                  {"n_layer", s.layers},
                  {"n_head", s.heads},
                  {"n_positions", s.length},
                  {"n_inner", s.feed_forward},
                  {"layer_norm_epsilon", 1e-5},
                  {"activation_function", "gelu_new"}};
}

void fill_neox_or_bloom(TinyModel& model, Filler& fill) {
  const TinySizes& s = model.sizes;
  const bool bloom = model.architecture == "bloom";
  const std::string base = bloom ? "transformer." : "gpt_neox.";
  const std::string attention = bloom ? "self_attention." : "attention.";
  fill.table(base + (bloom ? "word_embeddings.weight" : "embed_in.weight"), s.vocab, s.dim);
  if (bloom) fill.norm(base + "word_embeddings_layernorm", s.dim, true);
  for (std::int64_t i = 0; i < s.layers; ++i) {
    const std::string layer = base + (bloom ? "h." : "layers.") + std::to_string(i) + ".";
    fill.norm(layer + "input_layernorm", s.dim, true);
    fill.norm(layer + "post_attention_layernorm", s.dim, true);
    fill.linear(layer + attention + "query_key_value", 3 * s.dim, s.dim, true);
    fill.linear(layer + attention + "dense", s.dim, s.dim, true);
    fill.linear(layer + "mlp.dense_h_to_4h", s.feed_forward, s.dim, true);
    fill.linear(layer + "mlp.dense_4h_to_h", s.dim, s.feed_forward, true);
  }
  fill.norm(base + (bloom ? "ln_f" : "final_layer_norm"), s.dim, true);
  model.tied = bloom;
  if (!bloom) fill.linear("embed_out", s.vocab, s.dim, false);
  model.config = {{"hidden_size", s.dim},
                  {"num_attention_heads", s.heads},
                  {"max_position_embeddings", s.length},
                  {bloom ? "n_layer" : "num_hidden_layers", s.layers},
                  {bloom ? "layer_norm_epsilon" : "layer_norm_eps", 1e-5}};
  if (bloom) return;
  model.config["intermediate_size"] = s.feed_forward;
  model.config["rotary_pct"] = 0.5;
  model.config["rotary_emb_base"] = 10000;
  model.config["hidden_act"] = "gelu";
  model.config["use_parallel_residual"] = true;
}

float stored_as(float value, io::SafetensorsType type) {
  if (type == io::SafetensorsType::f16) return to_float(to_float16(value));
  if (type == io::SafetensorsType::bf16) return to_float(to_bfloat16(value));
  return value;
}

std::vector<std::byte> bytes_of(const std::vector<float>& values, io::SafetensorsType type) {
  std::vector<std::byte> bytes(values.size() * io::size_of(type));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (type == io::SafetensorsType::f32) std::memcpy(bytes.data() + 4 * i, &values[i], 4);
    const auto half = type == io::SafetensorsType::f16 ? to_float16(values[i]).bits : to_bfloat16(values[i]).bits;
    if (type != io::SafetensorsType::f32) std::memcpy(bytes.data() + 2 * i, &half, 2);
  }
  return bytes;
}

}  // namespace

TinyModel make_tiny(const std::string& architecture, TinySizes sizes, bool tied, std::uint64_t seed) {
  TinyModel model;
  model.architecture = architecture;
  model.tied = tied;
  if (architecture == "bloom") sizes.feed_forward = 4 * sizes.dim;
  model.sizes = sizes;
  Filler fill(model, seed);
  if (architecture == "gpt2") {
    fill_gpt2(model, fill);
  } else if (architecture == "gpt_neox" || architecture == "bloom") {
    fill_neox_or_bloom(model, fill);
  } else {
    fill_llama(model, fill);
  }
  model.config["model_type"] = architecture;
  model.config["vocab_size"] = sizes.vocab;
  model.config["tie_word_embeddings"] = model.tied;
  return model;
}

void write_hf_folder(TinyModel& model, const std::filesystem::path& folder, io::SafetensorsType type) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json") << model.config.dump();
  std::vector<std::vector<std::byte>> held;
  std::vector<io::SafetensorsTensor> tensors;
  held.reserve(model.tensors.size());
  for (auto& [name, tensor] : model.tensors) {
    for (float& value : tensor.values) value = stored_as(value, type);
    held.push_back(bytes_of(tensor.values, type));
    tensors.push_back({name, type, tensor.shape, held.back()});
  }
  io::write_safetensors(folder / "model.safetensors", tensors);
}

}  // namespace locus::testing
