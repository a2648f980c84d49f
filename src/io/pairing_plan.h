// SPDX-License-Identifier: Apache-2.0
// Finds the tensors of a model that hold queries and keys, and the rows of each head.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locus/io/atomic_file.h"
#include "locus/io/convert_pairing.h"

namespace locus::io {

enum class AttentionPart : std::uint8_t {
  query,
  key,
  query_key_value,           ///< all queries, all keys, all values
  query_key_value_per_head,  ///< GPT-NeoX: query, key and value of head 0, then of head 1, ...
  query_norm,
  key_norm,
  not_understood,  ///< of queries or keys, but in none of these forms
};

/// A tensor's place in a model. Empty if the name is not that of queries or keys.
struct AttentionName {
  std::int64_t layer = 0;
  AttentionPart part = AttentionPart::not_understood;
};
std::optional<AttentionName> attention_name_hf(std::string_view tensor_name);
std::optional<AttentionName> attention_name_gguf(std::string_view tensor_name);

struct LayerShape {
  HeadShape head;
  std::int64_t heads = 0;
  std::int64_t key_value_heads = 0;
};

/// A tensor of any format. `block_elements` is the number of elements of a row that are stored together.
struct PlannedTensor {
  std::string name;
  std::span<const std::int64_t> shape;
  std::span<const std::byte> bytes;
  std::string_view type;
  std::size_t block_elements = 1;
};

/// The bytes of a tensor in their new order, as pieces of the old ones.
struct MovedTensor {
  std::string name;
  ByteChunk before;
  std::vector<ByteChunk> after;
};

/// Collects the tensors of a model, possibly from several files.
class PairingPlan {
 public:
  using ShapeOfLayer = std::function<LayerShape(std::int64_t layer)>;
  PairingPlan(Pairing to, ShapeOfLayer shape_of_layer) : to_(to), shape_of_layer_(std::move(shape_of_layer)) {}

  /// Returns the tensor with its rows moved. Empty if the pairing does not affect it. `subject` starts messages.
  std::optional<MovedTensor> add(const PlannedTensor& tensor, const std::optional<AttentionName>& name,
                                 const std::string& subject);
  /// Error: a layer without queries or keys, or no layers at all.
  void check_complete(const std::string& model) const;
  std::int64_t layers() const { return static_cast<std::int64_t>(queries_.size()); }
  std::int64_t first_layer() const { return *queries_.begin(); }

 private:
  Pairing to_;
  ShapeOfLayer shape_of_layer_;
  std::set<std::int64_t> queries_, keys_;
};

}  // namespace locus::io
