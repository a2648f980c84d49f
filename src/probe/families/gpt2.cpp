// SPDX-License-Identifier: Apache-2.0
// GPT-2 (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners"):
//
//   x <- embedding + position row
//   x <- x + Wo attention(q, k, v) + bo        [q | k | v] = Wa n(x) + ba
//   x <- x + W2 gelu(W1 n'(x) + b1) + b2       n: layer norm; gelu by tanh
#include "locus/error.h"
#include "probe/network.h"

namespace locus::probe {
namespace {

struct Layer {
  LayerNorm attention_norm, feed_forward_norm;
  Linear query_key_value, output, up, down;
};

class Gpt2 : public Network {
 public:
  explicit Gpt2(const Source& source) : Network(source) {
    require(source.activation.empty() || source.activation == "gelu_new" || source.activation == "gelu_pytorch_tanh",
            source.file, ": activation_function must be gelu_new, got ", source.activation);
    require_heads_fill_width(source);
    const Name embedding{"wte", "token_embd"};
    const WeightReader reader(source, "transformer.", embedding);
    embedding_ = reader.matrix(embedding, config.vocab, config.dim);
    final_norm_ = reader.layer_norm({"ln_f", "output_norm"}, config.dim);
    head_ = reader.head({"lm_head", "output"}, embedding_);
    for (std::int64_t i = 0; i < config.layers; ++i) layers_.push_back(read_layer(reader.layer(i, "h")));
  }

  void block(std::int64_t index, Rows& x, Pass& pass) const override {
    const Layer& w = layers_[static_cast<std::size_t>(index)];
    Rows qkv = product(norm(x, w.attention_norm), w.query_key_value, pass.executor());
    add_to(x, product(attend_fused(index, qkv, FusedOrder::by_part, pass), w.output, pass.executor()));

    Rows inner = product(norm(x, w.feed_forward_norm), w.up, pass.executor());
    gelu_by_tanh(inner);
    add_to(x, product(inner, w.down, pass.executor()));
  }

  Rows final_norm(const Rows& x) const override { return norm(x, final_norm_); }

 private:
  Layer read_layer(const WeightReader& reader) const {
    Layer w;
    w.attention_norm = reader.layer_norm({"ln_1", "attn_norm"}, config.dim);
    w.feed_forward_norm = reader.layer_norm({"ln_2", "ffn_norm"}, config.dim);
    w.query_key_value = reader.conv1d({"attn.c_attn", "attn_qkv"}, 3 * config.dim, config.dim);
    w.output = reader.conv1d({"attn.c_proj", "attn_output"}, config.dim, config.dim);
    w.up = reader.conv1d({"mlp.c_fc", "ffn_up"}, config.feed_forward, config.dim);
    w.down = reader.conv1d({"mlp.c_proj", "ffn_down"}, config.dim, config.feed_forward);
    return w;
  }

  Rows norm(const Rows& x, const LayerNorm& weights) const { return layer_norm(x, weights, config.norm_epsilon); }

  LayerNorm final_norm_;
  std::vector<Layer> layers_;
};

}  // namespace

std::shared_ptr<Network> make_gpt2(const Source& source) { return std::make_shared<Gpt2>(source); }

}  // namespace locus::probe
