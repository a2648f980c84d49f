// SPDX-License-Identifier: Apache-2.0
// Every family by the definition in its paper: plain loops over the Hugging Face tensors, without cache, table or
// kernel. In double it is the expected result; in float it shows the error of float32.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <vector>

#include "support/tiny_model.h"

namespace locus::testing {

template <class Real>
class PlainForward {
 public:
  using Row = std::vector<Real>;
  using Rows = std::vector<Row>;

  explicit PlainForward(const TinyModel& model) : model_(model), s_(model.sizes) {}

  /// A change of a row before it is multiplied by a matrix, such as rounding.
  std::function<Row(Row)> before_product = [](Row row) { return row; };

  /// The logits of every token, at positions 0, 1, ...
  Rows logits(std::span<const std::int32_t> tokens) const {
    const bool llama = is_llama(), bloom = model_.architecture == "bloom";
    Rows x = embed(tokens);
    for (std::int64_t i = 0; i < s_.layers; ++i) {
      if (llama) {
        llama_block("model.layers." + std::to_string(i) + ".", x);
      } else if (model_.architecture == "gpt2") {
        gpt2_block("transformer.h." + std::to_string(i) + ".", x);
      } else {
        fused_block((bloom ? "transformer.h." : "gpt_neox.layers.") + std::to_string(i) + ".", x);
      }
    }
    const std::string norm = llama                               ? "model.norm"
                             : model_.architecture == "gpt_neox" ? "gpt_neox.final_layer_norm"
                                                                 : "transformer.ln_f";
    const std::string head = model_.tied ? embedding_name() : llama ? "lm_head.weight" : "embed_out.weight";
    Rows out;
    for (const Row& row : x) out.push_back(times(head, normed(norm, row)));
    return out;
  }

 private:
  bool is_llama() const { return model_.config.contains("rms_norm_eps"); }
  std::string embedding_name() const {
    if (is_llama()) return "model.embed_tokens.weight";
    if (model_.architecture == "gpt2") return "transformer.wte.weight";
    return model_.architecture == "bloom" ? "transformer.word_embeddings.weight" : "gpt_neox.embed_in.weight";
  }

  Rows embed(std::span<const std::int32_t> tokens) const {
    Rows x;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      Row row = row_of(embedding_name(), tokens[t]);
      if (model_.architecture == "gpt2") row = sum(row, row_of("transformer.wpe.weight", static_cast<std::int64_t>(t)));
      if (model_.architecture == "bloom") row = normed("transformer.word_embeddings_layernorm", row);
      x.push_back(std::move(row));
    }
    return x;
  }

  void llama_block(const std::string& layer, Rows& x) const {
    Rows q, k, v;
    for (const Row& row : x) {
      const Row n = normed(layer + "input_layernorm", row);
      q.push_back(each_head_normed(layer + "self_attn.q_norm", linear(layer + "self_attn.q_proj", n)));
      k.push_back(each_head_normed(layer + "self_attn.k_norm", linear(layer + "self_attn.k_proj", n)));
      v.push_back(linear(layer + "self_attn.v_proj", n));
    }
    rotate(q, s_.head_dim, 5000);
    rotate(k, s_.head_dim, 5000);
    const Rows mixed = attention(q, k, v);
    for (std::size_t t = 0; t < x.size(); ++t) {
      x[t] = sum(x[t], linear(layer + "self_attn.o_proj", mixed[t]));
      const Row n = normed(layer + "post_attention_layernorm", x[t]);
      Row inner = linear(layer + "mlp.gate_proj", n);
      const Row up = linear(layer + "mlp.up_proj", n);
      for (std::size_t j = 0; j < inner.size(); ++j) inner[j] = inner[j] / (1 + std::exp(-inner[j])) * up[j];
      x[t] = sum(x[t], linear(layer + "mlp.down_proj", inner));
    }
  }

  void gpt2_block(const std::string& layer, Rows& x) const {
    Rows q, k, v;
    for (const Row& row : x) {
      const Row all = conv1d(layer + "attn.c_attn", normed(layer + "ln_1", row));
      const auto third = static_cast<std::ptrdiff_t>(all.size() / 3);
      q.emplace_back(all.begin(), all.begin() + third);
      k.emplace_back(all.begin() + third, all.begin() + 2 * third);
      v.emplace_back(all.begin() + 2 * third, all.end());
    }
    const Rows mixed = attention(q, k, v);
    for (std::size_t t = 0; t < x.size(); ++t) {
      x[t] = sum(x[t], conv1d(layer + "attn.c_proj", mixed[t]));
      Row inner = conv1d(layer + "mlp.c_fc", normed(layer + "ln_2", x[t]));
      for (Real& value : inner) value = gelu_by_tanh(value);
      x[t] = sum(x[t], conv1d(layer + "mlp.c_proj", inner));
    }
  }

  /// GPT-NeoX and Bloom: query, key and value of each head in sequence.
  void fused_block(const std::string& layer, Rows& x) const {
    const bool bloom = model_.architecture == "bloom";
    const std::string attention_name = layer + (bloom ? "self_attention." : "attention.");
    Rows part[3];
    for (const Row& row : x) {
      const Row all = linear(attention_name + "query_key_value", normed(layer + "input_layernorm", row));
      for (std::int64_t p = 0; p < 3; ++p) {
        Row chosen;
        for (std::int64_t h = 0; h < s_.heads; ++h) {
          for (std::int64_t j = 0; j < s_.head_dim; ++j) {
            chosen.push_back(all[static_cast<std::size_t>((h * 3 + p) * s_.head_dim + j)]);
          }
        }
        part[p].push_back(std::move(chosen));
      }
    }
    if (!bloom) rotate(part[0], s_.head_dim / 2, 10000);
    if (!bloom) rotate(part[1], s_.head_dim / 2, 10000);
    const Rows mixed = attention(part[0], part[1], part[2]);
    const bool parallel = !bloom && model_.config.at("use_parallel_residual").template get<bool>();
    for (std::size_t t = 0; t < x.size(); ++t) {
      const Row attended = linear(attention_name + "dense", mixed[t]);
      const Row between = sum(x[t], attended);
      Row inner =
          linear(layer + "mlp.dense_h_to_4h", normed(layer + "post_attention_layernorm", parallel ? x[t] : between));
      for (Real& value : inner) value = bloom ? gelu_by_tanh(value) : value / 2 * (1 + std::erf(value / root_two()));
      x[t] = sum(between, linear(layer + "mlp.dense_4h_to_h", inner));
    }
  }

  static Real root_two() { return std::numbers::sqrt2_v<Real>; }
  static Real gelu_by_tanh(Real v) {
    return v / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi_v<Real>) * (v + Real(0.044715) * v * v * v)));
  }

  /// Rotates pairs (i, i + width / 2) of each head by position x base^(-2i / width).
  void rotate(Rows& rows, std::int64_t width, double base) const {
    for (std::size_t t = 0; t < rows.size(); ++t) {
      for (std::size_t head = 0; head < rows[t].size(); head += static_cast<std::size_t>(s_.head_dim)) {
        for (std::int64_t i = 0; i < width / 2; ++i) {
          const double angle =
              static_cast<double>(t) * std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(width));
          const Real c = static_cast<Real>(std::cos(angle)), s = static_cast<Real>(std::sin(angle));
          Real& a = rows[t][head + static_cast<std::size_t>(i)];
          Real& b = rows[t][head + static_cast<std::size_t>(i + width / 2)];
          const Real first = a * c - b * s;
          b = a * s + b * c;
          a = first;
        }
      }
    }
  }

  Rows attention(const Rows& q, const Rows& k, const Rows& v) const {
    const std::size_t window = model_.config.contains("sliding_window") ? 5 : q.size();
    Rows out(q.size(), Row(static_cast<std::size_t>(s_.heads * s_.head_dim)));
    for (std::size_t t = 0; t < q.size(); ++t) {
      for (std::int64_t h = 0; h < s_.heads; ++h) {
        const auto at = static_cast<std::size_t>(h * s_.head_dim);
        const auto from = static_cast<std::size_t>(h / (s_.heads / s_.kv_heads) * s_.head_dim);
        Row scores(t + 1, -std::numeric_limits<Real>::infinity());
        for (std::size_t u = 0; u <= t; ++u) {
          if (t - u >= window) continue;
          Real dot = 0;
          for (std::size_t j = 0; j < static_cast<std::size_t>(s_.head_dim); ++j) dot += q[t][at + j] * k[u][from + j];
          scores[u] = dot / std::sqrt(static_cast<Real>(s_.head_dim));
          // Slopes of ALiBi for a power of two of heads: 2^(-8 (h + 1) / heads).
          if (model_.architecture == "bloom") {
            scores[u] += static_cast<Real>(
                std::exp2(-8.0 * static_cast<double>(h + 1) / static_cast<double>(s_.heads)) * static_cast<double>(u));
          }
        }
        Real most = scores[t], total = 0;
        for (const Real score : scores) most = std::max(most, score);
        for (Real& score : scores) total += score = std::exp(score - most);
        for (std::size_t u = 0; u <= t; ++u) {
          for (std::size_t j = 0; j < static_cast<std::size_t>(s_.head_dim); ++j) {
            out[t][at + j] += scores[u] / total * v[u][from + j];
          }
        }
      }
    }
    return out;
  }

  Row row_of(const std::string& name, std::int64_t index) const {
    const TinyTensor& tensor = model_.at(name);
    const auto begin = tensor.values.begin() + index * tensor.shape[1];
    return Row(begin, begin + tensor.shape[1]);
  }

  Row times(const std::string& name, const Row& given) const {
    const TinyTensor& w = model_.at(name);
    const Row x = before_product(given);
    Row y(static_cast<std::size_t>(w.shape[0]));
    for (std::size_t r = 0; r < y.size(); ++r) {
      for (std::size_t c = 0; c < x.size(); ++c) y[r] += static_cast<Real>(w.values[r * x.size() + c]) * x[c];
    }
    return y;
  }
  Row linear(const std::string& name, const Row& x) const { return with_bias(name, times(name + ".weight", x)); }
  Row conv1d(const std::string& name, const Row& given) const {
    const TinyTensor& w = model_.at(name + ".weight");
    const Row x = before_product(given);
    Row y(static_cast<std::size_t>(w.shape[1]));
    for (std::size_t c = 0; c < x.size(); ++c) {
      for (std::size_t r = 0; r < y.size(); ++r) y[r] += static_cast<Real>(w.values[c * y.size() + r]) * x[c];
    }
    return with_bias(name, y);
  }
  Row with_bias(const std::string& name, Row y) const {
    const auto bias = model_.tensors.find(name + ".bias");
    if (bias == model_.tensors.end()) return y;
    for (std::size_t r = 0; r < y.size(); ++r) y[r] += static_cast<Real>(bias->second.values[r]);
    return y;
  }

  Row each_head_normed(const std::string& name, const Row& row) const {
    if (!model_.tensors.contains(name + ".weight")) return row;
    Row out;
    for (auto begin = row.begin(); begin != row.end(); begin += s_.head_dim) {
      const Row head = normed(name, Row(begin, begin + s_.head_dim));
      out.insert(out.end(), head.begin(), head.end());
    }
    return out;
  }
  /// A layer norm if there is a bias, else an RMS norm.
  Row normed(const std::string& name, const Row& x) const {
    const auto bias = model_.tensors.find(name + ".bias");
    const bool centred = bias != model_.tensors.end();
    const auto width = static_cast<Real>(x.size());
    Real mean = 0, squares = 0;
    if (centred) {
      for (const Real value : x) mean += value / width;
    }
    for (const Real value : x) squares += (value - mean) * (value - mean) / width;
    Row y;
    for (std::size_t j = 0; j < x.size(); ++j) {
      y.push_back((x[j] - mean) / std::sqrt(squares + Real(1e-5)) *
                  static_cast<Real>(model_.at(name + ".weight").values[j]));
      if (centred) y.back() += static_cast<Real>(bias->second.values[j]);
    }
    return y;
  }
  static Row sum(Row a, const Row& b) {
    for (std::size_t j = 0; j < a.size(); ++j) a[j] += b[j];
    return a;
  }

  const TinyModel& model_;
  TinySizes s_;
};

}  // namespace locus::testing
