// SPDX-License-Identifier: Apache-2.0
// Families whose blocks differ only in names and a few choices. One matrix computes queries, keys and values:
//
//   x <- x + Wo attention(q, k, v) + bo         [q | k | v] = Wa n(x) + ba
//   x <- x + W2 act(W1 n'(x) + b1) + b2         (parallel: n' reads the x before attention)
//
// GPT-2 (Radford et al. 2019, "Language Models are Unsupervised Multitask Learners") adds a position row to the
//   embedding. Its weights are Conv1D in transformers: stored transposed.
// Bloom (BigScience 2022, arXiv 2211.05100, section 3.2) normalises the embedding; scores + slope_h x key id (ALiBi).
// GPT-NeoX (Black et al. 2022, arXiv 2204.06745, section 2.1.2) and Pythia (arXiv 2304.01373) rotate the first part of
//   each head. Attention and feed-forward read the same x, unless use_parallel_residual is false.
// The lab's model (lab/model/transformer.h) has RMS norms, relu and no biases. Its file states the encoding; with a forget
//   gate each layer has one more matrix, with a bias, for the gates.
//
// A family is one row of the table below.
#include <algorithm>
#include <array>
#include <cmath>

#include "locus/error.h"
#include "probe/network.h"

namespace locus::probe {
namespace {

enum class Norm : std::uint8_t { layer, rms };
enum class Activation : std::uint8_t { gelu, gelu_tanh, relu };
/// How transformers stores the matrices; GGUF stores all of them plain.
enum class Storage : std::uint8_t { linear, conv1d, without_bias };

struct FusedFamily {
  std::string_view architecture;       ///< in config.json
  std::string_view gguf_architecture;  ///< in GGUF
  std::string_view base;               ///< prefix of every name in a Hugging Face model
  std::string_view layers;             ///< prefix of a layer's index there
  Name embedding, embedding_norm, final_norm, head;
  Name attention_norm, query_key_value, output;
  Name feed_forward_norm, up, down;
  Norm norm = Norm::layer;
  Activation activation = Activation::gelu;
  std::vector<std::string_view> activation_names = {};  ///< its names in config.json; empty: not stated
  Storage storage = Storage::linear;
  FusedOrder order = FusedOrder::by_part;  ///< in transformers; GGUF is always by part
  bool may_be_parallel = false;            ///< the file may set a parallel residual
  bool may_tie_head = true;                ///< the head may be the embedding
};

const std::array<FusedFamily, 4>& fused_families() {
  static const std::array<FusedFamily, 4> families = {
      FusedFamily{.architecture = "gpt2",
                  .gguf_architecture = "gpt2",
                  .base = "transformer.",
                  .layers = "h",
                  .embedding = {"wte", "token_embd"},
                  .embedding_norm = {},
                  .final_norm = {"ln_f", "output_norm"},
                  .head = {"lm_head", "output"},
                  .attention_norm = {"ln_1", "attn_norm"},
                  .query_key_value = {"attn.c_attn", "attn_qkv"},
                  .output = {"attn.c_proj", "attn_output"},
                  .feed_forward_norm = {"ln_2", "ffn_norm"},
                  .up = {"mlp.c_fc", "ffn_up"},
                  .down = {"mlp.c_proj", "ffn_down"},
                  .activation = Activation::gelu_tanh,
                  .activation_names = {"gelu_new", "gelu_pytorch_tanh"},
                  .storage = Storage::conv1d},
      FusedFamily{.architecture = "gpt_neox",
                  .gguf_architecture = "gptneox",
                  .base = "gpt_neox.",
                  .layers = "layers",
                  .embedding = {"embed_in", "token_embd"},
                  .embedding_norm = {},
                  .final_norm = {"final_layer_norm", "output_norm"},
                  .head = {"embed_out", "output"},
                  .attention_norm = {"input_layernorm", "attn_norm"},
                  .query_key_value = {"attention.query_key_value", "attn_qkv"},
                  .output = {"attention.dense", "attn_output"},
                  .feed_forward_norm = {"post_attention_layernorm", "ffn_norm"},
                  .up = {"mlp.dense_h_to_4h", "ffn_up"},
                  .down = {"mlp.dense_4h_to_h", "ffn_down"},
                  .activation_names = {"gelu"},
                  .order = FusedOrder::by_head,
                  .may_be_parallel = true},
      FusedFamily{.architecture = "bloom",
                  .gguf_architecture = "bloom",
                  .base = "transformer.",
                  .layers = "h",
                  .embedding = {"word_embeddings", "token_embd"},
                  .embedding_norm = {"word_embeddings_layernorm", "token_embd_norm"},
                  .final_norm = {"ln_f", "output_norm"},
                  .head = {"lm_head", "output"},
                  .attention_norm = {"input_layernorm", "attn_norm"},
                  .query_key_value = {"self_attention.query_key_value", "attn_qkv"},
                  .output = {"self_attention.dense", "attn_output"},
                  .feed_forward_norm = {"post_attention_layernorm", "ffn_norm"},
                  .up = {"mlp.dense_h_to_4h", "ffn_up"},
                  .down = {"mlp.dense_4h_to_h", "ffn_down"},
                  .activation = Activation::gelu_tanh,
                  .order = FusedOrder::by_head},
      FusedFamily{.architecture = "locus_lab",
                  .gguf_architecture = "locus_lab",
                  .base = "",
                  .layers = "layers",
                  .embedding = {"embedding", "token_embd"},
                  .embedding_norm = {},
                  .final_norm = {"norm", "output_norm"},
                  .head = {"head", "output"},
                  .attention_norm = {"attention.norm", "attn_norm"},
                  .query_key_value = {"attention.qkv", "attn_qkv"},
                  .output = {"attention.out", "attn_output"},
                  .feed_forward_norm = {"feed_forward.norm", "ffn_norm"},
                  .up = {"feed_forward.in", "ffn_up"},
                  .down = {"feed_forward.out", "ffn_down"},
                  .norm = Norm::rms,
                  .activation = Activation::relu,
                  .storage = Storage::without_bias,
                  .may_tie_head = false},
  };
  return families;
}

const FusedFamily& family_of(std::string_view architecture) {
  const auto& families = fused_families();
  const auto found = std::find_if(families.begin(), families.end(), [&](const FusedFamily& family) {
    return family.architecture == architecture || family.gguf_architecture == architecture;
  });
  require(found != families.end(), "architecture ", architecture, " is not one of the fused families");
  return *found;
}

void relu(Rows& x) {
  for (float& value : x.data) value = std::max(value, 0.0f);
}

void log_sigmoid(Rows& x) {
  for (float& value : x.data) value = std::min(value, 0.0f) - std::log1p(std::exp(-std::fabs(value)));
}

struct Layer {
  LayerNorm attention_norm, feed_forward_norm;  ///< an RMS norm has no bias
  Linear query_key_value, output, up, down;
  Linear gate;  ///< of a model whose tokens bring gates
};

class Fused : public Network {
 public:
  explicit Fused(const Source& source)
      : Network(source),
        family_(family_of(config.architecture)),
        parallel_(family_.may_be_parallel && source.parallel_residual),
        order_(config.format == "gguf" ? FusedOrder::by_part : family_.order) {
    require_heads_fill_width(source);
    require_activation(source);
    if (config.passkey) require_within(*config.passkey, config.vocab, source.file);
    config.begins_anywhere = family_.architecture == "locus_lab";
    const WeightReader reader(source, std::string(family_.base), family_.embedding);
    embedding_ = reader.matrix(family_.embedding, config.vocab, config.dim);
    if (!family_.embedding_norm.hf.empty()) embedding_norm_ = read_norm(reader, family_.embedding_norm);
    final_norm_ = read_norm(reader, family_.final_norm);
    head_ = family_.may_tie_head ? reader.head(family_.head, embedding_)
                                 : Linear{reader.matrix(family_.head, config.vocab, config.dim), {}};
    for (std::int64_t i = 0; i < config.layers; ++i) {
      layers_.push_back(read_layer(reader.layer(i, std::string(family_.layers))));
    }
  }

  Rows embed(std::span<const Token> tokens) const override {
    Rows x = Network::embed(tokens);
    return embedding_norm_.weight.empty() ? x : norm(x, embedding_norm_);
  }

  void block(std::int64_t index, Rows& x, Pass& pass) const override {
    const Layer& w = layers_[static_cast<std::size_t>(index)];
    const Rows normed = norm(x, w.attention_norm);
    Rows qkv = product(normed, w.query_key_value, pass.executor());
    AttentionInputs inputs = fused_parts(qkv, order_);
    if (config.gates > 0) {
      inputs.gates = product(normed, w.gate, pass.executor());
      log_sigmoid(inputs.gates);
    }
    const Rows attended = product(pass.attend(index, inputs), w.output, pass.executor());
    if (!parallel_) add_to(x, attended);

    Rows inner = product(norm(x, w.feed_forward_norm), w.up, pass.executor());
    activate(inner);
    if (parallel_) add_to(x, attended);
    add_to(x, product(inner, w.down, pass.executor()));
  }

  Rows final_norm(const Rows& x) const override { return norm(x, final_norm_); }

 private:
  void require_activation(const Source& source) const {
    const std::vector<std::string_view>& names = family_.activation_names;
    if (source.activation.empty() || names.empty()) return;
    require(std::find(names.begin(), names.end(), source.activation) != names.end(), source.file,
            ": the activation of ", family_.architecture, " must be ", names.front(), ", got ", source.activation);
  }

  LayerNorm read_norm(const WeightReader& reader, const Name& name) const {
    if (family_.norm == Norm::rms) return {reader.vector(name, config.dim), {}};
    return reader.layer_norm(name, config.dim);
  }

  Linear read_linear(const WeightReader& reader, const Name& name, std::int64_t rows, std::int64_t columns) const {
    switch (family_.storage) {
      case Storage::conv1d:
        return reader.conv1d(name, rows, columns);
      case Storage::without_bias:
        return {reader.matrix(name, rows, columns), {}};
      case Storage::linear:
        break;
    }
    return reader.linear(name, rows, columns, Bias::required);
  }

  Layer read_layer(const WeightReader& reader) const {
    Layer w;
    w.attention_norm = read_norm(reader, family_.attention_norm);
    w.feed_forward_norm = read_norm(reader, family_.feed_forward_norm);
    w.query_key_value = read_linear(reader, family_.query_key_value, 3 * config.dim, config.dim);
    w.output = read_linear(reader, family_.output, config.dim, config.dim);
    if (config.gates > 0) {
      w.gate = reader.linear({"attention.gate", "attn_gate"}, config.heads * config.gates, config.dim, Bias::required);
    }
    w.up = read_linear(reader, family_.up, config.feed_forward, config.dim);
    w.down = read_linear(reader, family_.down, config.dim, config.feed_forward);
    return w;
  }

  Rows norm(const Rows& x, const LayerNorm& weights) const {
    if (family_.norm == Norm::rms) return rms_norm(x, weights.weight, config.norm_epsilon);
    return layer_norm(x, weights, config.norm_epsilon);
  }

  void activate(Rows& x) const {
    switch (family_.activation) {
      case Activation::gelu:
        return gelu(x);
      case Activation::gelu_tanh:
        return gelu_by_tanh(x);
      case Activation::relu:
        return relu(x);
    }
  }

  const FusedFamily& family_;
  bool parallel_;
  FusedOrder order_;
  LayerNorm embedding_norm_, final_norm_;
  std::vector<Layer> layers_;
};

}  // namespace

std::vector<std::string_view> fused_architectures() {
  std::vector<std::string_view> names;
  for (const FusedFamily& family : fused_families()) {
    names.push_back(family.architecture);
    if (family.gguf_architecture != family.architecture) names.push_back(family.gguf_architecture);
  }
  return names;
}

std::shared_ptr<Network> make_fused(const Source& source) { return std::make_shared<Fused>(source); }

}  // namespace locus::probe
