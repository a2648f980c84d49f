// SPDX-License-Identifier: Apache-2.0
// Helpers for rules that depend on wavelengths.
#pragma once

#include <cmath>
#include <type_traits>

#include "locus/double_double.h"

namespace locus {

/// pi in the precision of the type.
template <class Real>
Real pi_of() {
  if constexpr (std::is_same_v<Real, DoubleDouble>) {
    return double_double_pi;
  } else {
    return static_cast<Real>(double_double_pi.hi);
  }
}

/// The (fractional) pair that turns `times` times within `length`: d ln(length / (2 pi times)) / (2 ln base).
template <class Scalar>
Scalar pair_turning(Scalar times, Scalar rotary_dim, Scalar base, Scalar length) {
  using std::log;
  return rotary_dim * log(length / (times * Scalar(2) * pi_of<Scalar>())) / (Scalar(2) * log(base));
}

}  // namespace locus
