// SPDX-License-Identifier: Apache-2.0
// Which tensors of a model hold queries and keys, and which of their rows belong to which head.
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
  not_understood,  ///< of queries or keys, but not one of the above
};

/// A tensor's place in a model; empty where the name has nothing to do with queries and keys.
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

/// A tensor of any format. `block_elements`: so many elements of a row are stored together.
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

/// Collects the tensors of a model, which may lie in several files.
class PairingPlan {
 public:
  using ShapeOfLayer = std::function<LayerShape(std::int64_t layer)>;
  PairingPlan(Pairing to, ShapeOfLayer shape_of_layer) : to_(to), shape_of_layer_(std::move(shape_of_layer)) {}

  /// The tensor with its rows moved; empty where the pairing does not concern it. `subject` starts messages.
  std::optional<MovedTensor> add(const PlannedTensor& tensor, const std::optional<AttentionName>& name,
                                 const std::string& subject);
  /// Throws Error where a layer lacks its queries or keys, or no layer was found at all.
  void check_complete(const std::string& model) const;
  std::int64_t layers() const { return static_cast<std::int64_t>(queries_.size()); }
  std::int64_t first_layer() const { return *queries_.begin(); }

 private:
  Pairing to_;
  ShapeOfLayer shape_of_layer_;
  std::set<std::int64_t> queries_, keys_;
};

}  // namespace locus::io
