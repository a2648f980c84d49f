// SPDX-License-Identifier: Apache-2.0
// Bloom (BigScience 2022, arXiv 2211.05100, section 3.2):
//
//   x <- n0(embedding)                          a layer norm of its own; no position row
//   x <- x + Wo attention(q, k, v) + bo         scores + slope_h x key place (ALiBi)
//   x <- x + W2 gelu(W1 n'(x) + b1) + b2        n: layer norm; gelu by tanh
//
// In transformers the fused weights hold query, key and value of head 0, then of head 1, ...; GGUF holds all queries,
// all keys, all values.
#include "probe/network.h"

namespace locus::probe {
namespace {

struct Layer {
  LayerNorm attention_norm, feed_forward_norm;
  Linear query_key_value, output, up, down;
};

class Bloom : public Network {
 public:
  explicit Bloom(const Source& source)
      : Network(source), order_(config.format == "gguf" ? FusedOrder::by_part : FusedOrder::by_head) {
    require_heads_fill_width(source);
    const Name embedding{"word_embeddings", "token_embd"};
    const WeightReader reader(source, "transformer.", embedding);
    embedding_ = reader.matrix(embedding, config.vocab, config.dim);
    embedding_norm_ = reader.layer_norm({"word_embeddings_layernorm", "token_embd_norm"}, config.dim);
    final_norm_ = reader.layer_norm({"ln_f", "output_norm"}, config.dim);
    head_ = reader.head({"lm_head", "output"}, embedding_);
    for (std::int64_t i = 0; i < config.layers; ++i) layers_.push_back(read_layer(reader.layer(i, "h")));
  }

  Rows embed(std::span<const Token> tokens) const override { return norm(Network::embed(tokens), embedding_norm_); }

  void block(std::int64_t index, Rows& x, Pass& pass) const override {
    const Layer& w = layers_[static_cast<std::size_t>(index)];
    Rows qkv = product(norm(x, w.attention_norm), w.query_key_value, pass.executor());
    add_to(x, product(attend_fused(index, qkv, order_, pass), w.output, pass.executor()));

    Rows inner = product(norm(x, w.feed_forward_norm), w.up, pass.executor());
    gelu_by_tanh(inner);
    add_to(x, product(inner, w.down, pass.executor()));
  }

  Rows final_norm(const Rows& x) const override { return norm(x, final_norm_); }

 private:
  Layer read_layer(const WeightReader& reader) const {
    const auto linear = [&](const Name& name, std::int64_t rows, std::int64_t columns) {
      return reader.linear(name, rows, columns, Bias::required);
    };
    Layer w;
    w.attention_norm = reader.layer_norm({"input_layernorm", "attn_norm"}, config.dim);
    w.feed_forward_norm = reader.layer_norm({"post_attention_layernorm", "ffn_norm"}, config.dim);
    w.query_key_value = linear({"self_attention.query_key_value", "attn_qkv"}, 3 * config.dim, config.dim);
    w.output = linear({"self_attention.dense", "attn_output"}, config.dim, config.dim);
    w.up = linear({"mlp.dense_h_to_4h", "ffn_up"}, config.feed_forward, config.dim);
    w.down = linear({"mlp.dense_4h_to_h", "ffn_down"}, config.dim, config.feed_forward);
    return w;
  }

  Rows norm(const Rows& x, const LayerNorm& weights) const { return layer_norm(x, weights, config.norm_epsilon); }

  FusedOrder order_;
  LayerNorm embedding_norm_, final_norm_;
  std::vector<Layer> layers_;
};

}  // namespace

std::shared_ptr<Network> make_bloom(const Source& source) { return std::make_shared<Bloom>(source); }

}  // namespace locus::probe
