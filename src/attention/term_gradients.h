// SPDX-License-Identifier: Apache-2.0
// The gradients of the position terms of one head from tiles of score gradients: the counterpart of position_terms.h.
#pragma once

#include <vector>

#include "attention/learned_sums.h"
#include "attention/position_terms.h"
#include "kernels/attend_backward_simd.h"

namespace locus {

/// Sums score gradients by offset if ids advance (by piece, if the bias consists of linear pieces), else by pair.
class BiasGradient {
 public:
  BiasGradient(const Problem& problem, const Document& document, std::int64_t head, LearnedSums& learned);
  void add(const TilePlace& tile, const TileRows& shape, const float* gradients, std::int64_t stride);
  void finish();

 private:
  void add_pieces(std::int64_t query, std::int64_t first_key, std::int64_t columns, const float* gradients);

  const Problem& problem_;
  const Document& document_;
  std::int64_t head_;
  LearnedSums& learned_;
  std::vector<float> by_offset_;  ///< of key index - query index + queries - 1
  PiecePlaces places_;
  std::vector<double> slopes_;                      ///< BiasPieces::distance_slope, by the same
  std::vector<double> in_piece_, with_x_;           ///< sums of gradients by piece
  std::vector<double> with_distance_, with_slope_;  ///< sums of gradients of x by query
  std::vector<float> room_;
};

/// Sums score gradients by query and by key, for the numbers that tokens bring.
class NumberGradient {
 public:
  NumberGradient(const Problem& problem, const AttentionGradientCall& call, const Document& document,
                 std::int64_t head);
  void add(std::int64_t query, std::int64_t key, double gradient);
  void add(const TilePlace& tile, const TileRows& shape, const float* gradients, std::int64_t stride);
  void store() const;

 private:
  const AttentionGradientCall& call_;
  const Document& document_;
  std::int64_t head_;
  TokenNumbers numbers_;
  bool wanted_;
  std::vector<double> query_[2], key_[2];
};

/// A tile of the backward pass for relative keys. All factors of a score are in base 2.
struct RelativeTile {
  TilePlace place;
  TileRows shape;
  const float* weights = nullptr;    ///< [rows][stride]
  const float* gradients = nullptr;  ///< of scores, the same
  std::int64_t stride = 0;
  const float* position = nullptr;         ///< the queries for relative keys, [rows][dim]
  const float* output_gradient = nullptr;  ///< [rows][dim]
  float* query_gradient = nullptr;         ///< through the relative keys only, [rows][padded dim]
  float* key_gradient = nullptr;           ///< [columns][padded dim]
};

/// Gradients of the relative keys and values of one head, and gradients through them.
class RelativeGradient {
 public:
  RelativeGradient(const Problem& problem, const Document& document, std::int64_t head, const AttendKernels& kernels,
                   LearnedSums& learned);
  /// products += output_gradient . relative value.
  void add_products(const TilePlace& tile, const TileRows& shape, const float* output_gradient, float* products,
                    std::int64_t stride) const;
  void add(const RelativeTile& tile);
  void finish();

 private:
  void add_window(const RelativeTile& tile);
  void add_meeting_keys(const RelativeTile& tile);
  void add_pairs(const RelativeTile& tile);
  AlignedFloats pack_rows(RowUse use, float factor) const;
  AlignedFloats tile_keys(const TilePlace& tile) const;
  std::int64_t first_offset(const TilePlace& tile) const;

  const Problem& problem_;
  const Document& document_;
  std::int64_t head_, dim_, padded_dim_;
  const AttendKernels& kernels_;
  AttendKernels plain_;
  AttendBackwardKernels backward_;
  LearnedSums& learned_;
  const RelativeKeys* keys_;
  bool values_ = false;
  std::int64_t offsets_ = 0;  ///< 0: ids do not advance
  AlignedFloats key_rows_, meeting_rows_, value_rows_;
  AlignedFloats key_row_gradient_, meeting_row_gradient_, value_row_gradient_;  ///< [offsets][padded dim]
};

}  // namespace locus
