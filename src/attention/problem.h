// SPDX-License-Identifier: Apache-2.0
// A call of attend(), checked and split into documents with explicit places and ids.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/attend_simd.h"
#include "locus/attention_shard.h"

namespace locus {

/// Rows of one key head, of some element type.
struct TypedRows {
  StoredRows rows;
  ElementType type = ElementType::float32;
};

/// Supplies keys and values that are in the pages of a cache instead of the views of a call.
class RowSupply {
 public:
  enum class Part : std::uint8_t { keys, values };
  virtual ~RowSupply() = default;
  /// Returns rows [first, first + count) of a key head, in place or in `room`.
  virtual TypedRows rows(Part part, std::int64_t head, std::int64_t first, std::int64_t count,
                         std::vector<std::byte>& room) const = 0;
};

/// The queries and keys of one document in one batch row, without padding at either end of the keys.
struct Document {
  std::int64_t batch = 0;
  std::int64_t first_query = 0, queries = 0;
  std::int64_t first_key = 0, keys = 0;
  std::span<const Position> query_ids = {}, key_ids = {};        ///< [queries], [keys]
  std::span<const Position> query_places = {}, key_places = {};  ///< what masks compare
  bool ids_advance = false;     ///< both advance by one, so a bias is a window of a vector
  bool places_rise = false;     ///< key places are sorted, a prefix or sinks first: a query sees a range
  bool places_advance = false;  ///< sorted without gaps
  bool patchy = false;          ///< some pairs are masked individually
};

/// Keys [begin, end) and [0, sinks_end) of a document.
struct VisibleRange {
  std::int64_t begin = 0, end = 0, sinks_end = 0;
};

class Problem {
 public:
  /// With a `supply`, the views of key and value have extents and types, but no data; there is one batch row. With a
  /// `shard`, a longer context has other keys.
  /// Error: a call that attend() refuses.
  explicit Problem(const AttentionCall& call, const RowSupply* supply = nullptr,
                   const std::optional<ShardOfKeys>& shard = {});
  /// `indices` holds 0, 1, ... for at least every key and outlives the problem: calls of a batch share them.
  Problem(const AttentionCall& call, const RowSupply* supply, std::span<const Position> indices);

  const AttentionCall& call() const { return call_; }
  std::span<const Document> documents() const { return documents_; }
  bool is_shard() const { return is_shard_; }
  double scale() const { return scale_; }
  std::int64_t head_dim() const { return call_.query.head_dim; }
  std::int64_t group() const { return call_.query.heads / call_.key.heads; }

  const ScoreBias* bias() const { return bias_; }
  const RelativeKeys* relative() const { return relative_; }
  /// The rotation, if it remaps offsets; other rotations are finished before attention.
  const Rotation* remapped() const { return remapped_; }
  /// The factors of a score bias and of a relative key.
  double bias_scale() const { return bias_ != nullptr && bias_->before_scale ? scale_ : 1.0; }
  double relative_scale() const { return relative_ != nullptr && relative_->scaled ? scale_ : 1.0; }
  /// For projected relative keys: the row of key - query, or null if it is not cached. The rows of advancing ids are
  /// the same for every document, so they are computed once, unless there are too many.
  const double* projected_row(std::int64_t head, Position offset) const;
  /// Whether the bias never grows with distance.
  bool decaying() const { return decaying_; }

  /// Whether this query of the document sees this key: the definition of the mask.
  bool sees(const Document& document, std::int64_t head, std::int64_t query, std::int64_t key) const;
  /// Whether no query sees a key whose id is above its own.
  bool future_unseen() const;
  /// The visible keys of a query, if places rise; pairs that are masked individually (patchy) are not excluded.
  VisibleRange visible_range(const Document& document, std::int64_t query) const;

  /// Returns keys or values [first, first + count) of a document, in place or, from a supply, in `room`.
  TypedRows rows(RowSupply::Part part, const Document& document, std::int64_t key_head, std::int64_t first,
                 std::int64_t count, std::vector<std::byte>& room) const;
  /// Returns the address of token `token` of a head.
  static std::byte* row(const HeadsView& view, std::int64_t batch, std::int64_t token, std::int64_t head);
  /// Returns element j of a row at this address.
  static double element(const HeadsView& view, const std::byte* row, std::int64_t j);
  float* log_sum_exp(std::int64_t batch, std::int64_t head, std::int64_t query) const;
  /// What gates of later keys have counted, in and out; null if the call does not say.
  double* gate_count(std::int64_t batch, std::int64_t head, std::int64_t query) const;
  /// The same for the gradients of the counts of earlier keys, in the backward pass.
  double* count_gradient(std::int64_t batch, std::int64_t head, std::int64_t query) const;

 private:
  double* of_query(double* numbers, std::int64_t batch, std::int64_t head, std::int64_t query) const;
  void prepare();
  void check_views() const;
  void check_masks() const;
  void check_numbers() const;
  void take_encoding();
  void make_documents();
  void check_relative_rows() const;
  void project_rows();

  AttentionCall call_;
  const RowSupply* supply_;
  ShardOfKeys shard_;
  bool is_shard_ = false;
  double scale_ = 1;
  const ScoreBias* bias_ = nullptr;
  const RelativeKeys* relative_ = nullptr;
  const Rotation* remapped_ = nullptr;
  bool decaying_ = false;
  std::vector<Position> default_query_, default_key_;
  std::span<const Position> indices_ = {};  ///< in place of default_key_
  std::vector<Document> documents_;
  Position first_projected_ = 0;
  std::vector<double> projected_;  ///< [offsets][heads][head_dim], or empty
};

}  // namespace locus
