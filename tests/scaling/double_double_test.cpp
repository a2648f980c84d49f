// SPDX-License-Identifier: Apache-2.0
// DoubleDouble against MPFR over the ranges that frequency rules use: bases 1.5 to 1e12, exponents -1 to 0.
#include "locus/double_double.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iostream>
#include <random>
#include <string>

#include "support/mpfr_real.h"

namespace locus {
namespace {

using testing::MpfrReal;
using testing::relative_error;

constexpr double promised = 0x1p-95;  // stated in the header; rules lose a few bits and still have 80
constexpr int samples = 4000;

// Random numbers with a low half of maximal size.
class Random {
 public:
  double uniform(double least, double most) { return std::uniform_real_distribution(least, most)(engine_); }
  DoubleDouble with_low_half(double high) {
    return double_double_detail::quick_two_sum(high, high * 0x1p-54 * uniform(-1, 1));
  }
  DoubleDouble base() { return with_low_half(std::exp(uniform(std::log(1.5), std::log(1e12)))); }
  DoubleDouble exponent() { return with_low_half(uniform(-1, 0)); }
  DoubleDouble sign(DoubleDouble value) { return uniform(0, 1) < 0.5 ? value : -value; }

 private:
  std::mt19937_64 engine_{2024};
};

// The worst relative error of `sample`, which returns the computed and the true value.
void expect_precise(const std::string& name, const std::function<std::pair<DoubleDouble, MpfrReal>()>& sample) {
  double worst = 0;
  for (int i = 0; i < samples; ++i) {
    const auto [got, want] = sample();
    worst = std::max(worst, relative_error(MpfrReal(got), want));
  }
  std::cout << name << ": worst relative error 2^" << std::log2(worst) << "\n";
  EXPECT_LT(worst, promised) << name;
}

TEST(DoubleDoubleTest, SumsAndDifferencesEvenWhereTheyCancel) {
  Random random;
  expect_precise("sum", [&] {
    const DoubleDouble a = random.sign(random.base());
    const DoubleDouble b = random.sign(random.base());
    return std::pair(a + b, MpfrReal(a) + MpfrReal(b));
  });
  expect_precise("difference", [&] {
    const DoubleDouble a = random.base();
    const DoubleDouble b = random.with_low_half(a.hi * (1 + std::pow(random.uniform(-1, 1), 9)));
    return std::pair(a - b, MpfrReal(a) - MpfrReal(b));
  });
}

TEST(DoubleDoubleTest, ProductsAndQuotients) {
  Random random;
  expect_precise("product", [&] {
    const DoubleDouble a = random.sign(random.base());
    const DoubleDouble b = random.exponent();
    return std::pair(a * b, MpfrReal(a) * MpfrReal(b));
  });
  expect_precise("quotient", [&] {
    const DoubleDouble a = random.exponent();
    const DoubleDouble b = random.sign(random.base());
    return std::pair(a / b, MpfrReal(a) / MpfrReal(b));
  });
}

TEST(DoubleDoubleTest, ElementaryFunctions) {
  Random random;
  expect_precise("sqrt", [&] {
    const DoubleDouble a = random.base();
    return std::pair(sqrt(a), sqrt(MpfrReal(a)));
  });
  expect_precise("log", [&] {
    const DoubleDouble a = random.base();
    return std::pair(log(a), log(MpfrReal(a)));
  });
  expect_precise("exp", [&] {
    const DoubleDouble a = log(random.base()) * random.exponent();
    return std::pair(exp(a), exp(MpfrReal(a)));
  });
  expect_precise("pow", [&] {
    const DoubleDouble a = random.base();
    const DoubleDouble b = random.exponent();
    return std::pair(pow(a, b), pow(MpfrReal(a), MpfrReal(b)));
  });
}

TEST(DoubleDoubleTest, PowersAtTheEndsOfTheRange) {
  for (const double base : {1.5, 2.0, 10000.0, 5e5, 1e7, 1e12}) {
    for (const double exponent : {-1.0, -0.5, -0x1p-20, 0.0}) {
      EXPECT_LT(relative_error(MpfrReal(pow(DoubleDouble(base), DoubleDouble(exponent))),
                               pow(MpfrReal(base), MpfrReal(exponent))),
                promised)
          << base << "^" << exponent;
    }
  }
}

TEST(DoubleDoubleTest, ConstantsAreTheRealNumbers) {
  // Two doubles of a constant leave at most half an ulp of the second: 2^-106 relative.
  EXPECT_LT(relative_error(MpfrReal(double_double_pi), MpfrReal::pi()), 0x1p-106);
  EXPECT_LT(relative_error(MpfrReal(double_double_ln2), log(MpfrReal(2))), 0x1p-106);
}

TEST(DoubleDoubleTest, FloorAndCeilAreExact) {
  Random random;
  for (int i = 0; i < samples; ++i) {
    const DoubleDouble value = random.sign(random.base());
    EXPECT_TRUE(MpfrReal(floor(value)) == floor(MpfrReal(value))) << value.hi << " + " << value.lo;
    EXPECT_TRUE(MpfrReal(ceil(value)) == ceil(MpfrReal(value))) << value.hi << " + " << value.lo;
  }
  // If the high half is an integer, the low half decides.
  for (const double whole : {-7.0, 0.0, 7.0, 0x1p60}) {
    for (const double low : {-0x1p-60, 0.0, 0x1p-60}) {
      const DoubleDouble value{whole, low};
      EXPECT_TRUE(MpfrReal(floor(value)) == floor(MpfrReal(value))) << whole << " + " << low;
      EXPECT_TRUE(MpfrReal(ceil(value)) == ceil(MpfrReal(value))) << whole << " + " << low;
    }
  }
}

TEST(DoubleDoubleTest, ComparesByBothHalves) {
  const DoubleDouble one(1.0);
  const DoubleDouble above{1.0, 0x1p-80};
  EXPECT_TRUE(one < above && above > one && one <= above && above >= one && one <= one);
  EXPECT_FALSE(above < one || above <= one || one == above);
}

}  // namespace
}  // namespace locus
