// SPDX-License-Identifier: Apache-2.0
// Llama (Touvron et al. 2023, arXiv 2302.13971; 2307.09288) and models that differ only in settings:
//
//   x <- x + Wo attention(rotate(Wq n(x)), rotate(Wk n(x)), Wv n(x))
//   x <- x + W2 (silu(W1 n'(x)) * W3 n'(x))                n: RMS norm
//
// Grouped queries if there are fewer key heads. Mistral: a window. Qwen2: biases on Wq, Wk, Wv. Qwen3: an RMS norm
// over each head of queries and keys, before the rotation.
#include "probe/network.h"

namespace locus::probe {
namespace {

struct LlamaLayer {
  std::vector<float> attention_norm, feed_forward_norm;
  std::vector<float> query_norm, key_norm;  ///< Qwen3 only
  Linear query, key, value, output;
  Linear gate, up, down;
};

class Llama : public Network {
 public:
  explicit Llama(const Source& source) : Network(source) {
    const Name embedding{"embed_tokens", "token_embd"};
    const WeightReader reader(source, "model.", embedding);
    embedding_ = reader.matrix(embedding, config.vocab, config.dim);
    final_norm_ = reader.vector({"norm", "output_norm"}, config.dim);
    head_ = reader.head({"lm_head", "output"}, embedding_);
    for (std::int64_t i = 0; i < config.layers; ++i) layers_.push_back(read_layer(reader.layer(i, "layers")));
  }

  void block(std::int64_t index, Rows& x, Pass& pass) const override {
    const LlamaLayer& w = layers_[static_cast<std::size_t>(index)];
    std::vector<Rows> qkv = products(norm(x, w.attention_norm), {&w.query, &w.key, &w.value}, pass.executor());
    if (!w.query_norm.empty()) {
      qkv[0] = norm(qkv[0], w.query_norm);
      qkv[1] = norm(qkv[1], w.key_norm);
    }
    const Rows mixed = pass.attend(index, {.query = heads_of(qkv[0], config.heads, config.head_dim),
                                           .key = heads_of(qkv[1], config.kv_heads, config.head_dim),
                                           .value = heads_of(qkv[2], config.kv_heads, config.head_dim)});
    add_to(x, product(mixed, w.output, pass.executor()));

    std::vector<Rows> inner = products(norm(x, w.feed_forward_norm), {&w.gate, &w.up}, pass.executor());
    gate_by_silu(inner[0], inner[1], pass.executor());
    add_to(x, product(inner[0], w.down, pass.executor()));
  }

  Rows final_norm(const Rows& x) const override { return norm(x, final_norm_); }

 private:
  LlamaLayer read_layer(const WeightReader& reader) const {
    const std::int64_t queries = config.heads * config.head_dim, keys = config.kv_heads * config.head_dim;
    const Bias bias = config.architecture == "qwen2" ? Bias::required : Bias::where_present;
    LlamaLayer w;
    w.attention_norm = reader.vector({"input_layernorm", "attn_norm"}, config.dim);
    w.feed_forward_norm = reader.vector({"post_attention_layernorm", "ffn_norm"}, config.dim);
    w.query = reader.linear({"self_attn.q_proj", "attn_q"}, queries, config.dim, bias);
    w.key = reader.linear({"self_attn.k_proj", "attn_k"}, keys, config.dim, bias);
    w.value = reader.linear({"self_attn.v_proj", "attn_v"}, keys, config.dim, bias);
    w.output = reader.linear({"self_attn.o_proj", "attn_output"}, config.dim, queries, Bias::where_present);
    w.gate = reader.linear({"mlp.gate_proj", "ffn_gate"}, config.feed_forward, config.dim, Bias::where_present);
    w.up = reader.linear({"mlp.up_proj", "ffn_up"}, config.feed_forward, config.dim, Bias::where_present);
    w.down = reader.linear({"mlp.down_proj", "ffn_down"}, config.dim, config.feed_forward, Bias::where_present);
    if (config.architecture == "qwen3") {
      w.query_norm = reader.vector({"self_attn.q_norm", "attn_q_norm"}, config.head_dim);
      w.key_norm = reader.vector({"self_attn.k_norm", "attn_k_norm"}, config.head_dim);
    }
    return w;
  }

  Rows norm(const Rows& x, std::span<const float> weight) const { return rms_norm(x, weight, config.norm_epsilon); }

  std::vector<float> final_norm_;
  std::vector<LlamaLayer> layers_;
};

}  // namespace

std::vector<std::string_view> llama_architectures() { return {"llama", "mistral", "qwen2", "qwen3"}; }

std::shared_ptr<Network> make_llama(const Source& source) { return std::make_shared<Llama>(source); }

}  // namespace locus::probe
