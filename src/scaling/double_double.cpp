// SPDX-License-Identifier: Apache-2.0
#include "locus/double_double.h"

namespace locus {

using double_double_detail::quick_two_sum;

DoubleDouble floor(DoubleDouble value) {
  const double high = std::floor(value.hi);
  if (high != value.hi) return high;
  return quick_two_sum(high, std::floor(value.lo));
}

DoubleDouble ceil(DoubleDouble value) { return -floor(-value); }

DoubleDouble sqrt(DoubleDouble value) {
  if (value.hi == 0) return value;
  const double estimate = std::sqrt(value.hi);
  const DoubleDouble square = double_double_detail::two_product(estimate, estimate);
  return quick_two_sum(estimate, (value - square).hi / (2 * estimate));  // one Newton step doubles the digits
}

// exp(x) = 2^k exp(r)^512 with r = (x - k ln 2) / 512, |r| < 7e-4, by its Taylor series. The series is summed for
// exp(r) - 1 and squared in that form, (1 + s)^2 - 1 = 2 s + s^2, so that the 1 costs no bits.
DoubleDouble exp(DoubleDouble value) {
  const double k = std::floor(value.hi / double_double_ln2.hi + 0.5);
  const DoubleDouble reduced = value - double_double_ln2 * k;
  const DoubleDouble r{std::ldexp(reduced.hi, -9), std::ldexp(reduced.lo, -9)};
  DoubleDouble term = r;
  DoubleDouble sum = r;
  for (int n = 2; n <= 10; ++n) {
    term = term * r / DoubleDouble(n);
    sum = sum + term;
  }
  for (int i = 0; i < 9; ++i) sum = sum * 2.0 + sum * sum;
  sum = sum + 1.0;
  return {std::ldexp(sum.hi, static_cast<int>(k)), std::ldexp(sum.lo, static_cast<int>(k))};
}

// Newton's step for exp(y) = value: y + value exp(-y) - 1, from the double logarithm.
DoubleDouble log(DoubleDouble value) {
  const DoubleDouble estimate = std::log(value.hi);
  return estimate + (value * exp(-estimate) - DoubleDouble(1));
}

DoubleDouble pow(DoubleDouble base, DoubleDouble exponent) { return exp(log(base) * exponent); }

}  // namespace locus
