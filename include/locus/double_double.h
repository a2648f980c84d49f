// SPDX-License-Identifier: Apache-2.0
// A real number as an unevaluated sum of two doubles: about 104 significant bits.
//
// Frequencies are computed once and then multiplied by positions up to 2^31, so 53 bits are too few: 2^31 times a
// rounding of 2^-53 is 2.4e-7. Arithmetic follows Dekker (1971) and Knuth. exp and log have a relative error below
// 2^-95 over the range that frequency rules use (tested against MPFR).
#pragma once

#include <cmath>

namespace locus {

struct DoubleDouble {
  double hi = 0;
  double lo = 0;  // |lo| <= ulp(hi) / 2

  constexpr DoubleDouble() = default;
  constexpr DoubleDouble(double value) : hi(value) {}  // NOLINT: a double is a DoubleDouble
  constexpr DoubleDouble(double high, double low) : hi(high), lo(low) {}
  explicit constexpr operator double() const { return hi; }
};

namespace double_double_detail {

// hi + lo == a + b exactly, for |a| >= |b|.
inline DoubleDouble quick_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

inline DoubleDouble two_sum(double a, double b) {
  const double sum = a + b;
  const double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

inline DoubleDouble two_product(double a, double b) {
  const double product = a * b;
  return {product, std::fma(a, b, -product)};
}

}  // namespace double_double_detail

inline DoubleDouble operator-(DoubleDouble a) { return {-a.hi, -a.lo}; }

inline DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
  using namespace double_double_detail;
  DoubleDouble high = two_sum(a.hi, b.hi);
  const DoubleDouble low = two_sum(a.lo, b.lo);
  high = quick_two_sum(high.hi, high.lo + low.hi);
  return quick_two_sum(high.hi, high.lo + low.lo);
}

inline DoubleDouble operator-(DoubleDouble a, DoubleDouble b) { return a + -b; }

inline DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
  using namespace double_double_detail;
  const DoubleDouble product = two_product(a.hi, b.hi);
  return quick_two_sum(product.hi, product.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
  using namespace double_double_detail;
  const double first = a.hi / b.hi;
  DoubleDouble rest = a - b * first;
  const double second = rest.hi / b.hi;
  rest = rest - b * second;
  const double third = rest.hi / b.hi;
  const DoubleDouble sum = quick_two_sum(first, second);
  return sum + DoubleDouble(third);
}

inline bool operator<(DoubleDouble a, DoubleDouble b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }
inline bool operator>(DoubleDouble a, DoubleDouble b) { return b < a; }
inline bool operator<=(DoubleDouble a, DoubleDouble b) { return !(b < a); }
inline bool operator>=(DoubleDouble a, DoubleDouble b) { return !(a < b); }
inline bool operator==(DoubleDouble a, DoubleDouble b) { return a.hi == b.hi && a.lo == b.lo; }

inline constexpr DoubleDouble double_double_pi{3.141592653589793116, 1.224646799147353207e-16};
inline constexpr DoubleDouble double_double_ln2{6.931471805599452862e-01, 2.319046813846299558e-17};

DoubleDouble floor(DoubleDouble value);
DoubleDouble ceil(DoubleDouble value);
DoubleDouble sqrt(DoubleDouble value);
DoubleDouble exp(DoubleDouble value);
DoubleDouble log(DoubleDouble value);
/// base^exponent for base > 0.
DoubleDouble pow(DoubleDouble base, DoubleDouble exponent);

}  // namespace locus
