// SPDX-License-Identifier: Apache-2.0
// GPT-NeoX (Black et al. 2022, arXiv 2204.06745; equations of section 2.1.2) and Pythia (arXiv 2304.01373):
//
//   x <- x + attention(n(x)) + W2 gelu(W1 n'(x) + b1) + b2      both read the same x (parallel residual)
//   x <- x + attention(n(x)); x <- x + W2 gelu(W1 n'(x) + ...)   where use_parallel_residual is false
//
// Only the first part of each head is rotated. In transformers the fused weights hold query, key and value of head 0,
// then of head 1, ...; GGUF holds all queries, all keys, all values.
#include "locus/error.h"
#include "probe/network.h"

namespace locus::probe {
namespace {

struct Layer {
  LayerNorm attention_norm, feed_forward_norm;
  Linear query_key_value, output, up, down;
};

class GptNeox : public Network {
 public:
  explicit GptNeox(const Source& source)
      : Network(source),
        parallel_(source.parallel_residual),
        order_(config.format == "gguf" ? FusedOrder::by_part : FusedOrder::by_head) {
    require(source.activation.empty() || source.activation == "gelu", source.file, ": hidden_act must be gelu, got ",
            source.activation);
    require_heads_fill_width(source);
    const Name embedding{"embed_in", "token_embd"};
    const WeightReader reader(source, "gpt_neox.", embedding);
    embedding_ = reader.matrix(embedding, config.vocab, config.dim);
    final_norm_ = reader.layer_norm({"final_layer_norm", "output_norm"}, config.dim);
    head_ = reader.head({"embed_out", "output"}, embedding_);
    for (std::int64_t i = 0; i < config.layers; ++i) layers_.push_back(read_layer(reader.layer(i, "layers")));
  }

  void block(std::int64_t index, Rows& x, Pass& pass) const override {
    const Layer& w = layers_[static_cast<std::size_t>(index)];
    Rows qkv = product(norm(x, w.attention_norm), w.query_key_value, pass.executor());
    const Rows attended = product(attend_fused(index, qkv, order_, pass), w.output, pass.executor());
    if (!parallel_) add_to(x, attended);

    Rows inner = product(norm(x, w.feed_forward_norm), w.up, pass.executor());
    gelu(inner);
    if (parallel_) add_to(x, attended);
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
    w.query_key_value = linear({"attention.query_key_value", "attn_qkv"}, 3 * config.dim, config.dim);
    w.output = linear({"attention.dense", "attn_output"}, config.dim, config.dim);
    w.up = linear({"mlp.dense_h_to_4h", "ffn_up"}, config.feed_forward, config.dim);
    w.down = linear({"mlp.dense_4h_to_h", "ffn_down"}, config.dim, config.feed_forward);
    return w;
  }

  Rows norm(const Rows& x, const LayerNorm& weights) const { return layer_norm(x, weights, config.norm_epsilon); }

  bool parallel_;
  FusedOrder order_;
  LayerNorm final_norm_;
  std::vector<Layer> layers_;
};

}  // namespace

std::shared_ptr<Network> make_gpt_neox(const Source& source) { return std::make_shared<GptNeox>(source); }

}  // namespace locus::probe
