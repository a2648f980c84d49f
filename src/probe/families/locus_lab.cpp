// SPDX-License-Identifier: Apache-2.0
// The lab's own model (lab/model/transformer.h), which `locus lab --save-models` writes:
//
//   x <- embedding (+ position row)
//   x <- x + Wo attention(q, k, v)        [q | k | v] = Wa n(x)
//   x <- x + W2 relu(W1 n'(x))            n: RMS norm; no biases; the head is a matrix of its own
//
// Its file says the encoding itself, any of the registry: scheme and arguments, tensors as positions.ARGUMENT.
#include <algorithm>

#include "locus/error.h"
#include "probe/network.h"

namespace locus::probe {
namespace {

struct Layer {
  std::vector<float> attention_norm, feed_forward_norm;
  Linear query_key_value, output, up, down;
};

void relu(Rows& x) {
  for (float& value : x.data) value = std::max(value, 0.0f);
}

/// Rotations are checked for every family.
void require_encoding_fits(const Encoding& encoding, const ModelConfig& config, const std::string& file) {
  const auto same = [&](const char* what, std::int64_t own, std::int64_t model) {
    require(own == model, file, ": the encoding ", encoding.scheme().name, " is for a model with a ", what, " of ", own,
            ", this one has ", model);
  };
  if (encoding.site() == Site::hidden) same("width", encoding.hidden().dim, config.dim);
  if (encoding.site() == Site::score) same("head count", encoding.score().heads, config.heads);
  if (encoding.site() == Site::relative_key) {
    const RelativeKeys& keys = encoding.relative_keys();
    same("head width", keys.head_dim, config.head_dim);
    if (keys.heads > 0) same("head count", keys.heads, config.heads);
  }
}

class LocusLab : public Network {
 public:
  explicit LocusLab(const Source& source) : Network(source) {
    require_heads_fill_width(source);
    require_encoding_fits(encoding, config, source.file);
    if (config.passkey) require_within(*config.passkey, config.vocab, source.file);
    config.begins_anywhere = true;
    const Name embedding{"embedding", "token_embd"};
    const WeightReader reader(source, "", embedding);
    embedding_ = reader.matrix(embedding, config.vocab, config.dim);
    final_norm_ = reader.vector({"norm", "output_norm"}, config.dim);
    head_ = {reader.matrix({"head", "output"}, config.vocab, config.dim), {}};
    for (std::int64_t i = 0; i < config.layers; ++i) layers_.push_back(read_layer(reader.layer(i, "layers")));
  }

  void block(std::int64_t index, Rows& x, Pass& pass) const override {
    const Layer& w = layers_[static_cast<std::size_t>(index)];
    Rows qkv = product(norm(x, w.attention_norm), w.query_key_value, pass.executor());
    add_to(x, product(attend_fused(index, qkv, FusedOrder::by_part, pass), w.output, pass.executor()));

    Rows inner = product(norm(x, w.feed_forward_norm), w.up, pass.executor());
    relu(inner);
    add_to(x, product(inner, w.down, pass.executor()));
  }

  Rows final_norm(const Rows& x) const override { return norm(x, final_norm_); }

 private:
  Layer read_layer(const WeightReader& reader) const {
    const auto linear = [&](const Name& name, std::int64_t rows, std::int64_t columns) {
      return Linear{reader.matrix(name, rows, columns), {}};
    };
    Layer w;
    w.attention_norm = reader.vector({"attention.norm", "attn_norm"}, config.dim);
    w.feed_forward_norm = reader.vector({"feed_forward.norm", "ffn_norm"}, config.dim);
    w.query_key_value = linear({"attention.qkv", "attn_qkv"}, 3 * config.dim, config.dim);
    w.output = linear({"attention.out", "attn_output"}, config.dim, config.dim);
    w.up = linear({"feed_forward.in", "ffn_up"}, config.feed_forward, config.dim);
    w.down = linear({"feed_forward.out", "ffn_down"}, config.dim, config.feed_forward);
    return w;
  }

  Rows norm(const Rows& x, std::span<const float> weight) const { return rms_norm(x, weight, config.norm_epsilon); }

  std::vector<float> final_norm_;
  std::vector<Layer> layers_;
};

}  // namespace

std::shared_ptr<Network> make_locus_lab(const Source& source) { return std::make_shared<LocusLab>(source); }

}  // namespace locus::probe
