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

/// Adds random tensors: weights that keep the size of what they multiply, norms around 1, small biases.
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

// ---- GGUF

struct GgufName {
  std::string hf, gguf;
};

const std::vector<GgufName>& layer_names() {
  static const std::vector<GgufName> names = {
      {"input_layernorm", "attn_norm"},
      {"post_attention_layernorm", "ffn_norm"},
      {"self_attn.q_proj", "attn_q"},
      {"self_attn.k_proj", "attn_k"},
      {"self_attn.v_proj", "attn_v"},
      {"self_attn.o_proj", "attn_output"},
      {"self_attn.q_norm", "attn_q_norm"},
      {"self_attn.k_norm", "attn_k_norm"},
      {"mlp.gate_proj", "ffn_gate"},
      {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"},
      {"ln_1", "attn_norm"},
      {"ln_2", "ffn_norm"},
      {"attn.c_attn", "attn_qkv"},
      {"attn.c_proj", "attn_output"},
      {"mlp.c_fc", "ffn_up"},
      {"mlp.c_proj", "ffn_down"},
      {"attention.query_key_value", "attn_qkv"},
      {"self_attention.query_key_value", "attn_qkv"},
      {"attention.dense", "attn_output"},
      {"self_attention.dense", "attn_output"},
      {"mlp.dense_h_to_4h", "ffn_up"},
      {"mlp.dense_4h_to_h", "ffn_down"},
  };
  return names;
}

std::string gguf_name(const std::string& hf) {
  const std::size_t dot = hf.rfind('.');
  const std::string stem = hf.substr(0, dot), suffix = hf.substr(dot);
  static const std::map<std::string, std::string> others = {
      {"model.embed_tokens", "token_embd"},
      {"model.norm", "output_norm"},
      {"lm_head", "output"},
      {"transformer.wte", "token_embd"},
      {"transformer.wpe", "position_embd"},
      {"transformer.ln_f", "output_norm"},
      {"gpt_neox.embed_in", "token_embd"},
      {"gpt_neox.final_layer_norm", "output_norm"},
      {"embed_out", "output"},
      {"transformer.word_embeddings", "token_embd"},
      {"transformer.word_embeddings_layernorm", "token_embd_norm"},
  };
  if (const auto found = others.find(stem); found != others.end()) return found->second + suffix;
  const std::size_t layers = stem.find(".layers."),
                    index = layers != std::string::npos ? layers + 8 : stem.find(".h.") + 3;
  const std::size_t end = stem.find('.', index);
  for (const GgufName& name : layer_names()) {
    if (stem.substr(end + 1) == name.hf) return "blk." + stem.substr(index, end - index) + "." + name.gguf + suffix;
  }
  throw std::logic_error("no GGUF name for " + hf);
}

/// Rows of a matrix, or entries of a bias, in another order: row r of the result is row `from(r)` of the tensor.
TinyTensor reordered(const TinyTensor& tensor, const std::function<std::int64_t(std::int64_t)>& from) {
  TinyTensor result = tensor;
  const std::int64_t width = tensor.shape.size() == 2 ? tensor.shape[1] : 1;
  for (std::int64_t r = 0; r < tensor.shape[0]; ++r) {
    for (std::int64_t c = 0; c < width; ++c) {
      result.values[static_cast<std::size_t>(r * width + c)] =
          tensor.values[static_cast<std::size_t>(from(r) * width + c)];
    }
  }
  return result;
}

TinyTensor transposed(const TinyTensor& tensor) {
  TinyTensor result{{tensor.shape[1], tensor.shape[0]}, std::vector<float>(tensor.values.size())};
  for (std::int64_t r = 0; r < tensor.shape[0]; ++r) {
    for (std::int64_t c = 0; c < tensor.shape[1]; ++c) {
      result.values[static_cast<std::size_t>(c * tensor.shape[0] + r)] =
          tensor.values[static_cast<std::size_t>(r * tensor.shape[1] + c)];
    }
  }
  return result;
}

/// What the converter does to the order of a tensor's rows.
TinyTensor as_in_gguf(const TinyModel& model, const std::string& name, const TinyTensor& tensor) {
  const std::int64_t width = model.sizes.head_dim, heads = model.sizes.heads;
  const bool is_matrix = tensor.shape.size() == 2;
  if (model.architecture == "gpt2" && is_matrix && name.find(".h.") != std::string::npos) return transposed(tensor);
  if (name.find("query_key_value") != std::string::npos) {  // [head][q k v][width] becomes [q k v][head][width]
    return reordered(tensor, [=](std::int64_t r) {
      const std::int64_t part = r / (heads * width), head = r / width % heads;
      return (head * 3 + part) * width + r % width;
    });
  }
  const bool turned = model.architecture == "llama" || model.architecture == "mistral";
  if (turned && (name.find("q_proj") != std::string::npos || name.find("k_proj") != std::string::npos)) {
    return reordered(tensor, [=](std::int64_t r) {  // pairs (i, i + d/2) become (2i, 2i + 1)
      const std::int64_t head = r / width, j = r % width;
      return head * width + j % 2 * (width / 2) + j / 2;
    });
  }
  return tensor;
}

/// Random blocks whose numbers have about the spread 1 / sqrt(inputs).
std::vector<std::byte> random_blocks(io::GgufTensorType type, std::int64_t elements, double spread,
                                     std::mt19937_64& random) {
  struct Layout {
    io::GgufTensorType type;
    std::int64_t elements, bytes;
    double unit_spread;           ///< of the numbers where every scale is 1
    std::int64_t scale, minimum;  ///< where those float16 stand; -1: nowhere
  };
  // Spreads of uniform integers: 256 values 74; 16 values 4.6; Q4_K 4.6 x scales of about 36; Q6_K 18.5 x 74.
  static const Layout layouts[] = {{io::GgufTensorType::q8_0, 32, 34, 74, 0, -1},
                                   {io::GgufTensorType::q4_0, 32, 18, 4.6, 0, -1},
                                   {io::GgufTensorType::q4_k, 256, 144, 165, 0, 2},
                                   {io::GgufTensorType::q6_k, 256, 210, 1370, 208, -1}};
  for (const Layout& layout : layouts) {
    if (layout.type != type) continue;
    std::vector<std::byte> bytes(static_cast<std::size_t>(elements / layout.elements * layout.bytes));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 255);
    for (std::size_t at = 0; at < bytes.size(); at += static_cast<std::size_t>(layout.bytes)) {
      const auto put = [&](std::int64_t offset, double value) {
        const Float16 half = to_float16(static_cast<float>(value));
        std::memcpy(bytes.data() + at + static_cast<std::size_t>(offset), &half, 2);
      };
      const double scale = spread / layout.unit_spread * (0.5 + static_cast<double>(random() % 100) / 100);
      put(layout.scale, scale);
      if (layout.minimum >= 0) put(layout.minimum, 7.5 * scale);  // the mean of 16 values
    }
    return bytes;
  }
  throw std::logic_error("not a quantised type");
}

std::vector<io::GgufEntry> gguf_settings(const TinyModel& model) {
  const TinySizes& s = model.sizes;
  const bool llama = model.config.contains("rms_norm_eps");
  std::string name = model.architecture;
  if (name == "mistral") name = "llama";
  if (name == "gpt_neox") name = "gptneox";
  std::vector<io::GgufEntry> entries = {{"general.architecture", io::GgufValue::of(std::string_view(name))}};
  const auto integer = [&](const std::string& key, std::int64_t value) {
    entries.push_back({name + "." + key, io::GgufValue::of(static_cast<std::uint32_t>(value))});
  };
  integer("block_count", s.layers);
  integer("context_length", s.length);
  integer("embedding_length", s.dim);
  integer("feed_forward_length", s.feed_forward);
  integer("attention.head_count", s.heads);
  if (llama) integer("attention.head_count_kv", s.kv_heads);
  if (llama) integer("attention.key_length", s.head_dim);
  if (model.architecture == "gpt_neox") integer("rope.dimension_count", s.head_dim / 2);
  if (model.config.contains("sliding_window")) integer("attention.sliding_window", 5);
  if (llama) entries.push_back({name + ".rope.freq_base", io::GgufValue::of(5000.0f)});
  entries.push_back({name + (llama ? ".attention.layer_norm_rms_epsilon" : ".attention.layer_norm_epsilon"),
                     io::GgufValue::of(1e-5f)});
  return entries;
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

void write_gguf_file(TinyModel& model, const std::filesystem::path& path, io::GgufTensorType type) {
  std::mt19937_64 random(5);
  std::vector<std::vector<std::byte>> held;
  std::vector<io::GgufTensor> tensors;
  held.reserve(model.tensors.size());
  for (auto& [name, tensor] : model.tensors) {
    TinyTensor stored = as_in_gguf(model, name, tensor);
    const bool plain = type == io::GgufTensorType::f32 || stored.shape.size() < 2;
    if (plain) {
      held.push_back(bytes_of(stored.values, io::SafetensorsType::f32));
    } else {
      // Only for models whose rows keep their order in GGUF: what the blocks mean is then the model's own tensor.
      const double spread = name.find("embed") == std::string::npos ? 1.5 / std::sqrt(stored.shape[1]) : 1;
      held.push_back(random_blocks(type, stored.shape[0] * stored.shape[1], spread, random));
    }
    tensors.push_back({gguf_name(name), plain ? io::GgufTensorType::f32 : type, stored.shape, held.back()});
    if (!plain) tensor.values = io::to_floats(tensors.back(), name);
  }
  io::write_gguf(path, gguf_settings(model), tensors);
}

}  // namespace locus::testing
