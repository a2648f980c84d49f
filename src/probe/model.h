// SPDX-License-Identifier: Apache-2.0
// A trained model, run on Locus's own rotation, attention and cache, under its own encoding or any other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "locus/cache.h"
#include "locus/encoding.h"
#include "locus/executor.h"
#include "probe/passkey_frame.h"

namespace locus::probe {

using Token = std::int32_t;

struct ModelConfig {
  std::string architecture;  ///< as the file names it: llama, mistral, qwen2, gpt2, gpt_neox, bloom, locus_lab
  std::string format;        ///< llama2c, gguf or safetensors
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t dim = 0;           ///< width of the hidden state
  std::int64_t feed_forward = 0;  ///< width inside the feed-forward part
  std::int64_t vocab = 0;
  std::int64_t trained_length = 0;  ///< positions seen before any extension
  std::int64_t window = 0;          ///< unless 0: how many keys a query sees, itself included (Mistral)
  double norm_epsilon = 1e-5;
  bool tied_head = false;
  std::int64_t weight_bytes = 0;  ///< as stored
  bool quantised = false;         ///< some weights are blocks of integers
  // Of the lab's models only.
  bool begins_anywhere = false;              ///< no token begins its sequences
  std::optional<PasskeyFrame> passkey = {};  ///< how it was asked for keys
};

/// How a cache treats its keys when the encoding changes (dynamic NTK as the sequence grows).
enum class KeyTables : std::uint8_t {
  rerotate,  ///< stored rotated, rotated again when the table changes: one rounding each time
  raw,       ///< stored unrotated, rotated when used: exact, slower
  mixed      ///< each key keeps the table it was stored under, as in some engines: wrong, kept to show the cost
};

class Model;

/// Keys and values of all layers, for one or more sequences, under one encoding. Not safe for concurrent changes.
class Cache {
 public:
  /// Room for `capacity` tokens over all sequences. Throws Error that names the size needed where memory is short.
  Cache(const Model& model, std::int64_t capacity, const Encoding& encoding, KeyTables tables = KeyTables::rerotate);
  Cache(const Model& model, std::int64_t capacity);  ///< under the model's own encoding

  SequenceId create();
  SequenceId fork(SequenceId sequence);
  void free(SequenceId sequence);
  void truncate(SequenceId sequence, std::int64_t length);
  std::int64_t length(SequenceId sequence) const;
  std::vector<Position> positions(SequenceId sequence) const;

  const Encoding& encoding() const { return encoding_; }
  void set_encoding(const Encoding& encoding);
  /// Any other operation (slide, shift, ...) is done on each layer's own cache.
  std::span<KvCache> layers() { return layers_; }
  std::span<const KvCache> layers() const { return layers_; }
  KeyTables tables() const { return tables_; }

 private:
  Encoding encoding_;
  KeyTables tables_;
  std::vector<KvCache> layers_;
};

/// New tokens of one sequence. The first `padding` of them are computed as in a padded batch, but masked and not cached.
struct Segment {
  SequenceId sequence = 0;
  std::span<const Token> tokens;
  std::span<const Position> positions = {};  ///< one per token, padding included; absent: after the cached ones
  std::int64_t padding = 0;
};

/// Attention probabilities of one layer and segment.
struct AttentionRows {
  std::int64_t layer = 0;
  std::int64_t segment = 0;
  std::int64_t heads = 0;
  std::span<const std::int64_t> rows;    ///< the queries asked for, as indices into the segment's tokens
  std::span<const Position> key_ids;     ///< of every key of the sequence
  std::span<const float> probabilities;  ///< [heads, rows, keys]
};

struct ForwardCall {
  std::span<const Segment> segments;
  /// The tokens whose logits are wanted, as indices into the concatenated segments. Absent: the last of each segment.
  std::optional<std::span<const std::int64_t>> logits_wanted = {};
  /// The queries whose attention is wanted, as indices into each segment's tokens; on_attention gets it layer by layer.
  std::span<const std::int64_t> attention_wanted = {};
  std::function<void(const AttentionRows&)> on_attention = {};
  Executor* executor = nullptr;
};

class Network;

/// Weights stay in the mapped file wherever the family allows. Safe to share between threads.
class Model {
 public:
  const ModelConfig& config() const;
  const Encoding& encoding() const;               ///< the one it was trained with
  const std::vector<std::string>& notes() const;  ///< what was defaulted or not understood while loading

  /// Appends the tokens to the cache and returns the wanted logits, [wanted, vocab]. Tokens, positions and room are
  /// checked first; on Error the cache is as it was. A length-dependent encoding does not change by itself: see Cache.
  std::vector<float> forward(const ForwardCall& call, Cache& cache) const;
  /// One sequence, the logits of its last token.
  std::vector<float> forward(std::span<const Token> tokens, SequenceId sequence, Cache& cache,
                             Executor* executor = nullptr) const;

  /// Bytes that a forward call over this many tokens needs beyond weights and cache.
  std::int64_t working_bytes(std::int64_t tokens, std::int64_t logits) const;

  explicit Model(std::shared_ptr<const Network> network);

 private:
  std::shared_ptr<const Network> network_;
};

/// `path`: a GGUF file, a llama2.c checkpoint, or the folder of a Hugging Face model (or its config.json). Error names
/// an unknown architecture, and every tensor that is missing or has a wrong shape.
/// `window` is in place of the model's own: a query sees so many keys, itself included; 0: all before it.
Model load(const std::filesystem::path& path, std::optional<std::int64_t> window = {});

/// The encoding that `spelling` (locus/settings.h) means for this model: `own`; `yarn:2` or
/// `rope:rule=yarn,factor=2,truncate=false` for its RoPE under a rule; `@config.json`; or another scheme, sized by the
/// model. `none` is RoPE without a rule, and `own` where the model does not rotate. Error where it does not fit.
Encoding encoding_for(const Model& model, std::string_view spelling);

}  // namespace locus::probe
