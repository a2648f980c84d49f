// SPDX-License-Identifier: Apache-2.0
// A trained model, run on Locus's rotation, attention and cache, with its own encoding or another.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
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
  std::string architecture;  ///< as named in the file: llama, mistral, qwen2, gpt2, gpt_neox, bloom, locus_lab
  std::string format;        ///< llama2c, gguf or safetensors
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t dim = 0;           ///< width of the hidden state
  std::int64_t feed_forward = 0;  ///< inner width of the feed-forward part
  std::int64_t vocab = 0;
  std::int64_t trained_length = 0;  ///< before any extension
  std::int64_t window = 0;          ///< unless 0: how many keys a query sees, including itself (Mistral)
  double norm_epsilon = 1e-5;
  bool tied_head = false;
  std::int64_t weight_bytes = 0;  ///< as stored
  bool quantised = false;         ///< some weights are blocks of integers
  // For models of the lab only.
  std::int64_t gates = 0;                    ///< gates per head that tokens bring (ScoreBias::token_numbers)
  bool begins_anywhere = false;              ///< its sequences may begin with any token
  std::optional<PasskeyFrame> passkey = {};  ///< the prompts of its passkey task
};

/// How a cache treats its keys when the encoding changes (dynamic NTK as the sequence grows).
enum class KeyTables : std::uint8_t {
  rerotate,  ///< stored rotated, rotated again when the table changes: one rounding per change
  raw,       ///< stored unrotated, rotated on use: exact, slower
  mixed      ///< each key keeps the table it was stored with, as in some engines: wrong, kept to show the effect
};

/// Where tokens are placed. Any other than the default is a fault of an engine, kept to show its effect.
struct Placement {
  Position first = 0;        ///< of the first token of a sequence
  Position query_ahead = 0;  ///< added to the positions of queries and not to those of keys; at least 0
};

class Model;

/// Keys and values of all layers, for one or more sequences, with one encoding. Concurrent changes need a lock.
class Cache {
 public:
  /// Allocates space for `capacity` tokens over all sequences, in pages of 16: the last page of a sequence may have
  /// unused slots.
  /// Error: not enough memory; the message names the size needed.
  Cache(const Model& model, std::int64_t capacity, const Encoding& encoding, KeyTables tables = KeyTables::rerotate);
  Cache(const Model& model, std::int64_t capacity);  ///< with the model's encoding

  SequenceId create();
  SequenceId fork(SequenceId sequence);
  void free(SequenceId sequence);
  void truncate(SequenceId sequence, std::int64_t length);
  std::int64_t length(SequenceId sequence) const;
  std::vector<Position> positions(SequenceId sequence) const;
  std::vector<Position> last_position(SequenceId sequence) const;  ///< empty if there is no token

  const Encoding& encoding() const { return encoding_; }
  void set_encoding(const Encoding& encoding);
  const Placement& placement() const { return placement_; }
  /// Error: a negative position.
  void set_placement(const Placement& placement);
  /// For all other operations (slide, shift, ...), use the cache of each layer.
  std::span<KvCache> layers() { return layers_; }
  std::span<const KvCache> layers() const { return layers_; }
  KeyTables tables() const { return tables_; }

  /// The vectors of a sequence's tokens before rows made from neighbours were added, [tokens, dim]: the next tokens need
  /// the last of them. Empty for other encodings.
  std::span<const float> vectors(SequenceId sequence) const;
  void remember(SequenceId sequence, std::span<const float> vectors);

 private:
  Encoding encoding_;
  KeyTables tables_;
  Placement placement_;
  std::vector<KvCache> layers_;
  std::int64_t dim_;
  std::map<SequenceId, std::vector<float>> vectors_;
};

/// New tokens of one sequence. The first `padding` of them are computed, as in a padded batch, but masked and not
/// cached.
struct Segment {
  SequenceId sequence = 0;
  std::span<const Token> tokens;
  std::span<const Position> positions = {};  ///< one per token, including padding; empty: after the cached ones
  std::int64_t padding = 0;
};

/// Queries and keys of one layer before positions are applied, one row per token of the call; valid during the call.
struct BareHeads {
  std::int64_t layer = 0;
  HeadsView query, key;
};

/// Attention probabilities of one layer and segment.
struct AttentionRows {
  std::int64_t layer = 0;
  std::int64_t segment = 0;
  std::int64_t heads = 0;
  std::span<const std::int64_t> rows;    ///< the chosen queries, as indices into the segment's tokens
  std::span<const Position> key_ids;     ///< of every key of the sequence
  std::span<const float> probabilities;  ///< [heads, rows, keys]
};

struct ForwardCall {
  std::span<const Segment> segments;
  /// The tokens whose logits to return, as indices into the concatenated segments. Empty: the last of each segment.
  std::optional<std::span<const std::int64_t>> logits_wanted = {};
  /// The queries whose attention to report, as indices into each segment's tokens; on_attention is called per layer.
  std::span<const std::int64_t> attention_wanted = {};
  std::function<void(const AttentionRows&)> on_attention = {};
  std::function<void(const BareHeads&)> on_heads = {};  ///< called per layer
  Executor* executor = nullptr;
};

class Network;

/// Weights stay in the mapped file if the family allows. Safe to share between threads.
class Model {
 public:
  const ModelConfig& config() const;
  const Encoding& encoding() const;               ///< the one it was trained with
  const std::vector<std::string>& notes() const;  ///< what was defaulted or not understood during loading

  /// Appends the tokens to the cache and returns the wanted logits, [wanted, vocab]. A length-dependent encoding does
  /// not change by itself: see Cache.
  /// Error: invalid tokens or positions, no space in the cache. They are checked first; the cache is unchanged then.
  std::vector<float> forward(const ForwardCall& call, Cache& cache) const;
  /// The same for one sequence; returns the logits of its last token.
  std::vector<float> forward(std::span<const Token> tokens, SequenceId sequence, Cache& cache,
                             Executor* executor = nullptr) const;

  /// Returns the bytes that a forward call over this many tokens needs beyond weights and cache.
  std::int64_t working_bytes(std::int64_t tokens, std::int64_t logits) const;

  explicit Model(std::shared_ptr<const Network> network);

 private:
  std::shared_ptr<const Network> network_;
};

/// Loads a GGUF file, a llama2.c checkpoint, or the folder of a Hugging Face model (or its config.json). `window`
/// replaces the model's: a query sees this many keys, including itself; 0: all before it.
/// Error: an unknown architecture, a tensor that is missing or has a wrong shape.
Model load(const std::filesystem::path& path, std::optional<std::int64_t> window = {});

/// Returns the encoding that `spelling` (locus/settings.h) means for this model: `own`; `yarn:2` or
/// `rope:rule=yarn,factor=2,truncate=false` for its RoPE with a rule; `@config.json`; or another scheme, with the
/// model's sizes. `none` is RoPE without a rule, or `own` if the model does not rotate.
/// Error: an encoding that does not fit the model.
Encoding encoding_for(const Model& model, std::string_view spelling);

}  // namespace locus::probe
