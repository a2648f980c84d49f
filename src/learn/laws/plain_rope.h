// SPDX-License-Identifier: Apache-2.0
// A rotation with any one thing wrong, to see which mistake gives a learner's numbers. The judge is the library.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "learn/laws/compare.h"
#include "learn/value.h"

namespace locus::learn {

struct RopeForm {
  bool half = false;
  std::int64_t width = 0;  ///< rotated coordinates; 0: all
  /// Angle of a pair at a position; empty: position times 10000^(-2 pair / width).
  std::function<double(double position, std::int64_t pair, std::int64_t width)> angle = {};
  enum class Product : std::uint8_t {
    right,
    overwritten,  ///< the first coordinate is stored before the second is computed from it
    same_sign,    ///< both products with sin are added
    exchanged,    ///< cos stands for sin and sin for cos
    inverse       ///< the sign of sin is flipped
  };
  Product product = Product::right;
};

/// x [tokens, heads, head_dim], each token at its position.
std::vector<double> plain_rope(const Array& x, const std::vector<std::int64_t>& ids, const RopeForm& form);

/// The mistakes in a rotation of x that the doctor's catalogue does not tell apart by a dump alone.
std::vector<Mistake> rope_mistakes(const Array& x, const std::vector<std::int64_t>& ids, bool half,
                                   std::int64_t width = 0);

}  // namespace locus::learn
