// SPDX-License-Identifier: Apache-2.0
// Random packed documents that every rank makes alike: the whole for the reference, and the share of each rank.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "locus/document_shards.h"
#include "locus/mpi/ring_attention.h"

namespace locus::tools {

/// A tensor [tokens][heads][dim] of some element type.
struct TokenRows {
  TokenRows() = default;
  TokenRows(ElementType type, std::int64_t tokens, std::int64_t heads, std::int64_t dim);
  HeadsView view();
  double at(std::int64_t token, std::int64_t head, std::int64_t j) const;
  void set(std::int64_t token, std::int64_t head, std::int64_t j, double value);

  ElementType type = ElementType::float32;
  std::int64_t tokens = 0, heads = 1, dim = 0;
  std::vector<std::byte> bytes;
};

struct RingShape {
  std::vector<std::int64_t> lengths;  ///< of the documents
  std::int64_t heads = 2, key_heads = 1, head_dim = 16;
};
/// A shape that the encoding accepts, with documents of different lengths, one of them long and one of one token.
RingShape shape_for(const Encoding& encoding, std::int64_t longest);

class RingSample {
 public:
  RingSample(const Encoding& encoding, RingShape shape, ElementType type, std::uint64_t seed);

  const Encoding& encoding() const { return encoding_; }
  const RingShape& shape() const { return shape_; }
  std::int64_t tokens() const { return query.tokens; }
  const std::vector<Position>& ids() const { return ids_; }
  const std::vector<std::int64_t>& boundaries() const { return boundaries_; }

  /// The whole, rotated: what one rank would attend to. Its `output` is to be set.
  AttentionCall whole(const Mask& mask);

  /// What a rank has: the same rows, rotated by that rank with its own ids. Padding is NaN.
  struct Share {
    positions::DocumentShard shard;
    std::vector<Position> ids;
    TokenRows query, key, value, output, query_numbers, key_numbers;
    std::vector<float> log_sum_exp;
    mpi::RingCall call;  ///< without communicator and mask
  };
  void make_share(positions::ShardKind kind, positions::Remainder remainder, int ranks, int rank, Share& share) const;

  TokenRows query, key, value;           ///< rotated, of the whole
  TokenRows query_numbers, key_numbers;  ///< running sums, or empty
  std::vector<float> sink_logits;        ///< empty unless a test sets them

 private:
  void rotate_rows(TokenRows& q, TokenRows& k, TokenRows& v, const PositionIds& ids) const;
  PositionIds planned() const;

  Encoding encoding_;
  RingShape shape_;
  Position start_ = 0;
  std::vector<Position> ids_;
  std::vector<std::int64_t> boundaries_;
  TokenRows raw_query_, raw_key_, raw_value_;
};

}  // namespace locus::tools
