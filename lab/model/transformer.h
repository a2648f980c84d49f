// SPDX-License-Identifier: Apache-2.0
// A small pre-norm transformer whose positions go through the library: a decoder, or an encoder with mean pooling.
//
//   x = embedding[token] (+ the position's row, or one made from neighbours);  per layer  x += attend(norm(x)), x += feed_forward(norm(x));
//   logits = norm(x) head
// No biases, norms by root mean square with a gain, a hidden layer of 4 x width with ReLU, an untied head.
#pragma once

#include "model/torch.h"

#include <optional>

#include "model/blocks.h"
#include "model/scheme.h"
#include "model/weights.h"
#include "task.h"

namespace locus::lab {

/// A batch as tensors, with the scored targets only.
struct Questions {
  std::int64_t rows = 0, length = 0;
  at::Tensor tokens;   ///< [rows x length], int64
  at::Tensor asked;    ///< indices into rows x length (pooled: into rows), int64
  at::Tensor targets;  ///< [asked], int64
};
/// Converts rows [first, first + rows) of a batch. Error: shapes or numbers do not fit the task.
Questions questions_of(const Batch& batch, const TaskDescription& task, std::int64_t first, std::int64_t rows);

/// The shape of a model; the same for the fast model and the baseline.
struct ModelSpec {
  ModelShape shape;
  std::int64_t vocabulary = 0;
  bool causal = true;
  bool pooled = false;
  SchemeText scheme;
  std::int64_t positions = 0;  ///< rows of a learned table: the longest length that occurs
};
ModelSpec model_spec(const TrialSpec& trial, const TaskDescription& task);

/// Returns the encoding of an untrained model.
Encoding initial_encoding(const ModelSpec& spec);
/// Returns names and shapes: "embedding", "head", "norm", "0.attention.norm", "0.attention.qkv", "0.attention.out",
/// "0.feed_forward.norm", "0.feed_forward.in", "0.feed_forward.out" ..., "0.attention.gate" and "0.attention.gate_bias"
/// (forget gate), "positions.table" (learned rows), "positions" (all other learned weights of the encoding).
Weights initial_weights(const ModelSpec& spec, const Encoding& encoding, std::int64_t seed);

class Transformer {
 public:
  Transformer(const ModelSpec& spec, std::int64_t seed);

  Weights& weights() { return weights_; }
  const Weights& weights() const { return weights_; }
  const ModelSpec& spec() const { return spec_; }

  /// Returns the encoding with the current weights.
  Encoding encoding() const;
  /// Returns logits [asked, vocabulary]. Takes any encoding of the same site: a stretched one, or a resized table.
  at::Tensor logits(const Questions& questions, const Encoding& encoding) const;
  /// Mean cross-entropy.
  at::Tensor loss(const Questions& questions, const Encoding& encoding) const;

  /// Receives the attention call of each layer; for checks.
  void observe(std::function<void(const AttentionCall&)> observer) { observer_ = std::move(observer); }

 private:
  at::Tensor position_rows(const Encoding& encoding, std::int64_t length) const;
  /// Returns what the tokens of a layer bring to its scores (blocks.h); empty unless the encoding takes it.
  at::Tensor token_numbers(const at::Tensor& x, std::int64_t layer, const AttentionSetting& setting) const;

  ModelSpec spec_;
  Encoding initial_;
  std::vector<LearnedArgument> learned_;
  Weights weights_;
  at::Tensor no_weights_, no_numbers_;
  std::function<void(const AttentionCall&)> observer_;
};

}  // namespace locus::lab
