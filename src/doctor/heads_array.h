// SPDX-License-Identifier: Apache-2.0
// An array [batch, tokens, heads, head_dim] of any element type that owns its memory.
#pragma once

#include <span>
#include <vector>

#include "locus/rotate.h"

namespace locus::doctor {

struct Extents {
  std::int64_t batch = 1;
  std::int64_t tokens = 0;
  std::int64_t heads = 1;
  std::int64_t head_dim = 0;
  std::int64_t count() const { return batch * tokens * heads * head_dim; }
};

class HeadsArray {
 public:
  HeadsArray(ElementType type, const Extents& extents);
  /// Takes values in the order of the axes and rounds each once to the type.
  HeadsArray(ElementType type, const Extents& extents, std::span<const double> values);

  HeadsView view() const;
  std::vector<double> values() const;

 private:
  ElementType type_;
  Extents extents_;
  mutable std::vector<std::byte> bytes_;  // mutable: HeadsView is not const
};

/// Returns half a unit in the last place at size 1: 2^-24, 2^-8, 2^-11.
double unit_roundoff(ElementType type);

}  // namespace locus::doctor
