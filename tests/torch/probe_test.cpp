// SPDX-License-Identifier: Apache-2.0
// Compares the probe's families with libtorch in double, each from its published definition with torch's operations
// (layer_norm, gelu, softmax, matmul) on the Hugging Face tensors.
//
// Tolerance: the same graph in float32 shows the error of float32 on this model; the test allows eight times its
// worst error, because the probe sums in another order.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>

#include "probe/model.h"
#include "support/command.h"
#include "support/tiny_model.h"

namespace locus::probe {
namespace {

using locus::testing::make_tiny;
using locus::testing::TemporaryFolder;
using locus::testing::TinyModel;
using torch::Tensor;
namespace F = torch::nn::functional;

const std::vector<Token> text = {3, 1, 4, 1, 5, 9, 2, 6, 5, 35, 8, 49};

class TorchModel {
 public:
  TorchModel(const TinyModel& model, torch::ScalarType type) : model_(model), type_(type) {}

  Tensor logits() const {
    const std::string& name = model_.architecture;
    if (name == "gpt2") return gpt2();
    if (name == "gpt_neox") return gpt_neox();
    return name == "bloom" ? bloom() : llama();
  }

 private:
  bool has(const std::string& name) const { return model_.tensors.contains(name); }
  Tensor at(const std::string& name) const {
    const auto& tensor = model_.at(name);
    return torch::from_blob(const_cast<float*>(tensor.values.data()), tensor.shape, torch::kFloat32).to(type_);
  }
  Tensor linear(const std::string& name, const Tensor& x) const {
    return F::linear(x, at(name + ".weight"), has(name + ".bias") ? at(name + ".bias") : Tensor());
  }
  Tensor conv1d(const std::string& name, const Tensor& x) const {
    return torch::addmm(at(name + ".bias"), x, at(name + ".weight"));
  }
  Tensor layer_norm(const std::string& name, const Tensor& x) const {
    return torch::layer_norm(x, {x.size(-1)}, at(name + ".weight"), at(name + ".bias"), 1e-5);
  }
  Tensor rms_norm(const std::string& name, const Tensor& x) const {
    return x * torch::rsqrt(x.pow(2).mean(-1, true) + 1e-5) * at(name + ".weight");
  }
  Tensor embedded(const std::string& name) const {
    const std::vector<std::int64_t> ids(text.begin(), text.end());
    return at(name).index_select(0, torch::tensor(ids));
  }
  std::int64_t length() const { return std::ssize(text); }

  /// [tokens, heads * width] as [heads, tokens, width], and back.
  Tensor split(const Tensor& x, std::int64_t heads) const { return x.view({length(), heads, -1}).transpose(0, 1); }
  Tensor joined(const Tensor& x) const { return x.transpose(0, 1).reshape({length(), -1}); }

  /// rotate_half of transformers over the first `width` coordinates.
  Tensor rotated(const Tensor& x, std::int64_t width, double base) const {
    const Tensor rates = torch::pow(base, -torch::arange(0, width, 2, torch::kFloat64) / static_cast<double>(width));
    const Tensor angles = torch::outer(torch::arange(length(), torch::kFloat64), rates);
    const Tensor both = torch::cat({angles, angles}, -1);
    const Tensor turned = x.slice(-1, 0, width), rest = x.slice(-1, width);
    const Tensor swapped = torch::cat({-turned.slice(-1, width / 2), turned.slice(-1, 0, width / 2)}, -1);
    return torch::cat({turned * both.cos().to(type_) + swapped * both.sin().to(type_), rest}, -1);
  }

  Tensor attention(const Tensor& q, Tensor k, Tensor v, const Tensor& bias = {}) const {
    const std::int64_t group = q.size(0) / k.size(0);
    k = k.repeat_interleave(group, 0);
    v = v.repeat_interleave(group, 0);
    Tensor scores = torch::matmul(q, k.transpose(1, 2)) / std::sqrt(static_cast<double>(q.size(2)));
    if (bias.defined()) scores = scores + bias;
    Tensor seen = torch::ones({length(), length()}, torch::kBool).tril();
    if (model_.config.contains("sliding_window")) seen = seen.triu(1 - 5);
    scores = scores.masked_fill(seen.logical_not(), -INFINITY);
    return joined(torch::matmul(torch::softmax(scores, -1), v));
  }

  Tensor llama() const {
    const auto& s = model_.sizes;
    Tensor x = embedded("model.embed_tokens.weight");
    for (std::int64_t i = 0; i < s.layers; ++i) {
      const std::string layer = "model.layers." + std::to_string(i) + ".";
      const Tensor n = rms_norm(layer + "input_layernorm", x);
      Tensor q = split(linear(layer + "self_attn.q_proj", n), s.heads);
      Tensor k = split(linear(layer + "self_attn.k_proj", n), s.kv_heads);
      const Tensor v = split(linear(layer + "self_attn.v_proj", n), s.kv_heads);
      if (has(layer + "self_attn.q_norm.weight")) {
        q = rms_norm(layer + "self_attn.q_norm", q);
        k = rms_norm(layer + "self_attn.k_norm", k);
      }
      x = x +
          linear(layer + "self_attn.o_proj", attention(rotated(q, s.head_dim, 5000), rotated(k, s.head_dim, 5000), v));
      const Tensor m = rms_norm(layer + "post_attention_layernorm", x);
      x = x + linear(layer + "mlp.down_proj",
                     torch::silu(linear(layer + "mlp.gate_proj", m)) * linear(layer + "mlp.up_proj", m));
    }
    const Tensor head = at(model_.tied ? "model.embed_tokens.weight" : "lm_head.weight");
    return F::linear(rms_norm("model.norm", x), head);
  }

  Tensor gpt2() const {
    Tensor x = embedded("transformer.wte.weight") + at("transformer.wpe.weight").slice(0, 0, length());
    for (std::int64_t i = 0; i < model_.sizes.layers; ++i) {
      const std::string layer = "transformer.h." + std::to_string(i) + ".";
      const auto qkv = conv1d(layer + "attn.c_attn", layer_norm(layer + "ln_1", x)).chunk(3, -1);
      const std::int64_t heads = model_.sizes.heads;
      x = x +
          conv1d(layer + "attn.c_proj", attention(split(qkv[0], heads), split(qkv[1], heads), split(qkv[2], heads)));
      x = x +
          conv1d(layer + "mlp.c_proj", torch::gelu(conv1d(layer + "mlp.c_fc", layer_norm(layer + "ln_2", x)), "tanh"));
    }
    return F::linear(layer_norm("transformer.ln_f", x), at("transformer.wte.weight"));
  }

  /// transformers' view (heads, 3 * width), cut in three along the last axis.
  std::vector<Tensor> fused(const std::string& name, const Tensor& n) const {
    return linear(name, n).view({length(), model_.sizes.heads, -1}).transpose(0, 1).chunk(3, -1);
  }

  Tensor gpt_neox() const {
    const std::int64_t width = model_.sizes.head_dim / 2;
    Tensor x = embedded("gpt_neox.embed_in.weight");
    for (std::int64_t i = 0; i < model_.sizes.layers; ++i) {
      const std::string layer = "gpt_neox.layers." + std::to_string(i) + ".";
      const auto qkv = fused(layer + "attention.query_key_value", layer_norm(layer + "input_layernorm", x));
      const Tensor attended = linear(layer + "attention.dense",
                                     attention(rotated(qkv[0], width, 10000), rotated(qkv[1], width, 10000), qkv[2]));
      const Tensor inner =
          torch::gelu(linear(layer + "mlp.dense_h_to_4h", layer_norm(layer + "post_attention_layernorm", x)), "none");
      x = x + attended + linear(layer + "mlp.dense_4h_to_h", inner);
    }
    return F::linear(layer_norm("gpt_neox.final_layer_norm", x), at("embed_out.weight"));
  }

  Tensor bloom() const {
    const std::int64_t heads = model_.sizes.heads;
    // transformers: slopes (2^(-8 / heads))^(1 ...) times the key's index.
    const Tensor slopes = torch::pow(2.0, -8.0 * torch::arange(1, heads + 1, torch::kFloat64) / heads);
    const Tensor bias = (slopes.view({heads, 1, 1}) * torch::arange(length(), torch::kFloat64)).to(type_);
    Tensor x = layer_norm("transformer.word_embeddings_layernorm", embedded("transformer.word_embeddings.weight"));
    for (std::int64_t i = 0; i < model_.sizes.layers; ++i) {
      const std::string layer = "transformer.h." + std::to_string(i) + ".";
      const auto qkv = fused(layer + "self_attention.query_key_value", layer_norm(layer + "input_layernorm", x));
      x = x + linear(layer + "self_attention.dense", attention(qkv[0], qkv[1], qkv[2], bias));
      x = x + linear(layer + "mlp.dense_4h_to_h",
                     torch::gelu(linear(layer + "mlp.dense_h_to_4h", layer_norm(layer + "post_attention_layernorm", x)),
                                 "tanh"));
    }
    return F::linear(layer_norm("transformer.ln_f", x), at("transformer.word_embeddings.weight"));
  }

  const TinyModel& model_;
  torch::ScalarType type_;
};

class ProbeAgainstTorch : public ::testing::TestWithParam<std::string> {};

TEST_P(ProbeAgainstTorch, GivesTheSameLogits) {
  const torch::NoGradGuard no_gradients;
  TinyModel tiny = make_tiny(GetParam());
  const TemporaryFolder folder;
  write_hf_folder(tiny, folder / "model");
  const Model model = load(folder / "model");
  Cache cache(model, 16);
  std::vector<std::int64_t> all;
  for (std::int64_t t = 0; t < std::ssize(text); ++t) all.push_back(t);
  const Segment segment{.sequence = cache.create(), .tokens = text};
  std::vector<float> logits =
      model.forward({.segments = std::span(&segment, 1), .logits_wanted = std::span<const std::int64_t>(all)}, cache);
  const Tensor ours = torch::from_blob(logits.data(), {std::ssize(text), tiny.sizes.vocab}).to(torch::kFloat64);
  const Tensor exact = TorchModel(tiny, torch::kFloat64).logits();
  const Tensor single = TorchModel(tiny, torch::kFloat32).logits().to(torch::kFloat64);
  const double cost = (single - exact).abs().max().item<double>();
  EXPECT_GT(cost, 0);
  EXPECT_LE((ours - exact).abs().max().item<double>(), 8 * cost);
}

INSTANTIATE_TEST_SUITE_P(All, ProbeAgainstTorch,
                         ::testing::Values("llama", "mistral", "qwen2", "qwen3", "gpt2", "gpt_neox", "bloom"),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace locus::probe
