// SPDX-License-Identifier: Apache-2.0
// The interface of a model family: its block, which maps rows to rows. The rest is shared by all families.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "probe/model.h"
#include "probe/ops.h"
#include "probe/weights/source.h"

namespace locus::probe {

/// What a layer gives to attention. The views have one row per token of the call and are overwritten; heads may have
/// any offset in a row. `gates`: logarithms of the tokens' gates [tokens, heads x ModelConfig::gates]; else empty.
struct AttentionInputs {
  HeadsView query, key, value;
  Rows gates = {};
};

/// One forward call; it holds positions and caches.
class Pass {
 public:
  virtual ~Pass() = default;
  /// Rotates queries and keys, caches keys and values, and attends: [tokens, heads * head_dim].
  virtual Rows attend(std::int64_t layer, const AttentionInputs& inputs) = 0;
  virtual Executor* executor() const = 0;
};

/// Error: an encoding for another width or number of heads, or for several axes; `owner` starts the message.
void require_fits(const Encoding& encoding, const ModelConfig& config, const std::string& owner);

/// Returns the width of a head in attention: that of the model unless the encoding makes heads polar.
std::int64_t attended_dim(const ModelConfig& config, const Encoding& encoding);

/// The row order of a matrix for queries, keys and values: all queries, all keys, all values; or query, key and value
/// of head 0, then of head 1, ...
enum class FusedOrder : std::uint8_t { by_part, by_head };

class Network {
 public:
  explicit Network(const Source& source);
  virtual ~Network() = default;

  ModelConfig config;
  Encoding encoding;
  std::vector<std::string> notes;

  /// Returns the embedding of each token; Bloom normalises it.
  virtual Rows embed(std::span<const Token> tokens) const;
  /// Applies one layer with its residual connections.
  virtual void block(std::int64_t layer, Rows& x, Pass& pass) const = 0;
  virtual Rows final_norm(const Rows& x) const = 0;
  Rows logits(const Rows& x, Executor* executor) const { return product(final_norm(x), head_, executor); }

 protected:
  /// For families whose queries, keys and values each have the width of the hidden state.
  void require_heads_fill_width(const Source& source) const;
  /// Returns the parts of the product of a fused matrix.
  AttentionInputs fused_parts(Rows& query_key_value, FusedOrder order) const;

  Matrix embedding_;
  Linear head_;

 private:
  std::shared_ptr<const void> keeps_;
};

// Families, one file each: separate matrices for queries, keys and values with a gated feed-forward part; one fused
// matrix with a plain feed-forward part.
std::vector<std::string_view> llama_architectures();
std::shared_ptr<Network> make_llama(const Source& source);
std::vector<std::string_view> fused_architectures();
std::shared_ptr<Network> make_fused(const Source& source);

}  // namespace locus::probe
