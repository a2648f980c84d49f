// SPDX-License-Identifier: Apache-2.0
// Keys and values of one head in one document, packed for tiles, with the norms that bound scores and, under an offset
// map, the keys of every region.
#pragma once

#include <cmath>
#include <vector>

#include "attention/aligned_floats.h"
#include "attention/problem.h"
#include "attention/region_turns.h"

namespace locus {

/// An upper bound of the norm of a vector whose squares were summed in float32, one rounding per coordinate. Squares
/// below 2^-126 may be lost; from 2^128 on they are infinite.
inline float norm_bound(float squares, std::int64_t dim) {
  const auto count = static_cast<float>(dim);
  return std::sqrt(squares) * (1 + (count + 2) * 0x1p-24f) + std::sqrt(count) * 0x1p-62f;
}

class PackedHead {
 public:
  /// `block`: keys per norm.
  PackedHead(const Problem& problem, const Document& document, std::int64_t key_head, std::int64_t block,
             const RegionTurns& turns);

  const float* keys(std::int64_t first) const { return keys_ + first * dim_; }
  /// Keys of a region of an offset map.
  const float* keys_in(std::size_t region, std::int64_t first) const { return in_region_[region] + first * dim_; }
  const float* values(std::int64_t first) const { return values_ + first * value_panel_; }
  std::int64_t values_stride() const { return room_ * value_panel_; }
  /// The largest norm of a key of a block, of all blocks up to it, and of all from it on; NaN if a key has a NaN.
  float largest_norm(std::int64_t block) const { return norms_[static_cast<std::size_t>(block)]; }
  float largest_norm_up_to(std::int64_t block) const { return up_to_[static_cast<std::size_t>(block)]; }
  float largest_norm_from(std::int64_t block) const { return from_[static_cast<std::size_t>(block)]; }

 private:
  void pack_turned(const StoredRows& keys, ElementType type, const RegionTurns& turns, std::int64_t first);

  std::int64_t dim_, value_panel_, room_;
  AlignedFloats all_;  ///< keys, values and turned keys: one array, since malloc returns many large ones to the system
  float *keys_, *values_;
  std::vector<float*> turned_;           ///< per region, if its keys turn and no earlier region has the same; else null
  std::vector<RegionTurns::Keys> met_;   ///< those of them that pairs can have
  std::vector<const float*> in_region_;  ///< per region: keys_ or one of turned_
  std::vector<float> norms_, up_to_, from_;
};

}  // namespace locus
