// SPDX-License-Identifier: Apache-2.0
// A 200-bit real number by MPFR: the arithmetic that precision tests compare with.
#pragma once

#include <mpfr.h>

#include "locus/double_double.h"

namespace locus::testing {

class MpfrReal {
 public:
  MpfrReal(double value = 0) {  // NOLINT: a double is a real number
    mpfr_init2(value_, 200);
    mpfr_set_d(value_, value, MPFR_RNDN);
  }
  MpfrReal(DoubleDouble value) : MpfrReal(value.hi) { mpfr_add_d(value_, value_, value.lo, MPFR_RNDN); }  // NOLINT
  MpfrReal(const MpfrReal& other) : MpfrReal() { mpfr_set(value_, other.value_, MPFR_RNDN); }
  MpfrReal& operator=(MpfrReal other) {
    mpfr_swap(value_, other.value_);
    return *this;
  }
  ~MpfrReal() { mpfr_clear(value_); }

  static MpfrReal pi() {
    MpfrReal result;
    mpfr_const_pi(result.value_, MPFR_RNDN);
    return result;
  }
  double to_double() const { return mpfr_get_d(value_, MPFR_RNDN); }

  friend MpfrReal operator+(const MpfrReal& a, const MpfrReal& b) { return binary(mpfr_add, a, b); }
  friend MpfrReal operator-(const MpfrReal& a, const MpfrReal& b) { return binary(mpfr_sub, a, b); }
  friend MpfrReal operator*(const MpfrReal& a, const MpfrReal& b) { return binary(mpfr_mul, a, b); }
  friend MpfrReal operator/(const MpfrReal& a, const MpfrReal& b) { return binary(mpfr_div, a, b); }
  friend MpfrReal pow(const MpfrReal& a, const MpfrReal& b) { return binary(mpfr_pow, a, b); }
  friend MpfrReal exp(const MpfrReal& a) { return unary(mpfr_exp, a); }
  friend MpfrReal log(const MpfrReal& a) { return unary(mpfr_log, a); }
  friend MpfrReal sqrt(const MpfrReal& a) { return unary(mpfr_sqrt, a); }
  friend MpfrReal cos(const MpfrReal& a) { return unary(mpfr_cos, a); }
  friend MpfrReal sin(const MpfrReal& a) { return unary(mpfr_sin, a); }
  friend MpfrReal abs(const MpfrReal& a) { return unary(mpfr_abs, a); }
  friend MpfrReal floor(const MpfrReal& a) { return unary(mpfr_rint_floor, a); }
  friend MpfrReal ceil(const MpfrReal& a) { return unary(mpfr_rint_ceil, a); }
  friend bool operator<(const MpfrReal& a, const MpfrReal& b) { return mpfr_less_p(a.value_, b.value_) != 0; }
  friend bool operator>(const MpfrReal& a, const MpfrReal& b) { return b < a; }
  friend bool operator==(const MpfrReal& a, const MpfrReal& b) { return mpfr_equal_p(a.value_, b.value_) != 0; }

 private:
  template <class Function>
  static MpfrReal unary(Function function, const MpfrReal& a) {
    MpfrReal result;
    function(result.value_, a.value_, MPFR_RNDN);
    return result;
  }
  template <class Function>
  static MpfrReal binary(Function function, const MpfrReal& a, const MpfrReal& b) {
    MpfrReal result;
    function(result.value_, a.value_, b.value_, MPFR_RNDN);
    return result;
  }
  mpfr_t value_;
};

/// |got - want| / |want|; the plain difference if `want` is 0.
inline double relative_error(const MpfrReal& got, const MpfrReal& want) {
  const MpfrReal difference = abs(got - want);
  return (want == 0.0 ? difference : difference / abs(want)).to_double();
}

/// |got - want|.
inline double absolute_error(double got, const MpfrReal& want) { return abs(MpfrReal(got) - want).to_double(); }

}  // namespace locus::testing
