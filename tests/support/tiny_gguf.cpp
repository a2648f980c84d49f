// SPDX-License-Identifier: Apache-2.0
// Writes the small models as llama.cpp's converter would.
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>

#include "locus/element.h"
#include "support/tiny_model.h"

namespace locus::testing {
namespace {

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

/// The row order that the converter writes.
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

/// Random blocks whose numbers have a standard deviation of about 1 / sqrt(inputs).
std::vector<std::byte> random_blocks(io::GgufTensorType type, std::int64_t elements, double spread,
                                     std::mt19937_64& random) {
  struct Layout {
    io::GgufTensorType type;
    std::int64_t elements, bytes;
    double unit_spread;           ///< of the numbers where every scale is 1
    std::int64_t scale, minimum;  ///< where those float16 stand; -1: nowhere
  };
  // Standard deviations of uniform integers: 256 values 74; 16 values 4.6; Q4_K 4.6 x scales of about 36; Q6_K 18.5 x
  // 74.
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

void write_gguf_file(TinyModel& model, const std::filesystem::path& path, io::GgufTensorType type) {
  std::mt19937_64 random(5);
  std::vector<std::vector<std::byte>> held;
  std::vector<io::GgufTensor> tensors;
  held.reserve(model.tensors.size());
  for (auto& [name, tensor] : model.tensors) {
    TinyTensor stored = as_in_gguf(model, name, tensor);
    const bool plain = type == io::GgufTensorType::f32 || stored.shape.size() < 2;
    if (plain) {
      const auto plain_bytes = std::as_bytes(std::span(stored.values));
      held.emplace_back(plain_bytes.begin(), plain_bytes.end());
    } else {
      // Only for models whose rows keep their order in GGUF: the decoded blocks are then the model's tensor.
      const double spread = name.find("embed") == std::string::npos ? 1.5 / std::sqrt(stored.shape[1]) : 1;
      held.push_back(random_blocks(type, stored.shape[0] * stored.shape[1], spread, random));
    }
    tensors.push_back({gguf_name(name), plain ? io::GgufTensorType::f32 : type, stored.shape, held.back()});
    if (!plain) tensor.values = io::to_floats(tensors.back(), name);
  }
  io::write_gguf(path, gguf_settings(model), tensors);
}

}  // namespace locus::testing
