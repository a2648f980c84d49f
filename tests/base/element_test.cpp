// SPDX-License-Identifier: Apache-2.0
// Compares the 16-bit formats with a brute force: the nearest of all their values, ties to even.
#include "locus/element.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace locus {
namespace {

// A format by its definition: sign, exponent of `exponent_bits`, fraction of the rest.
struct Format {
  int exponent_bits;
  std::vector<double> values;  // of the non-negative finite patterns, by pattern, and last 2^(largest exponent + 1)

  explicit Format(int bits) : exponent_bits(bits) {
    const int fraction_bits = 15 - bits;
    const int bias = (1 << (bits - 1)) - 1;
    for (int pattern = 0; pattern <= infinity(); ++pattern) {
      const int exponent = pattern >> fraction_bits;
      const int fraction = pattern & ((1 << fraction_bits) - 1);
      const int whole = exponent == 0 ? 0 : 1 << fraction_bits;
      values.push_back(std::ldexp(whole + fraction, std::max(exponent, 1) - bias - fraction_bits));
    }
  }
  int infinity() const { return ((1 << exponent_bits) - 1) << (15 - exponent_bits); }

  // Both neighbours and which is nearer, in double; infinity takes the place of the next larger value.
  int nearest(double value) const {
    const int sign = std::signbit(value) ? 0x8000 : 0;
    const double size = std::fabs(value);
    const auto above = std::lower_bound(values.begin(), values.end(), size);
    if (above == values.end()) return sign | infinity();
    const int upper = static_cast<int>(above - values.begin());
    if (*above == size) return sign | upper;
    const double to_upper = *above - size;
    const double to_lower = size - values[static_cast<std::size_t>(upper - 1)];
    if (to_upper == to_lower) return sign | (upper % 2 == 0 ? upper : upper - 1);
    return sign | (to_upper < to_lower ? upper : upper - 1);
  }
};

const Format& half() {
  static const Format format(5);
  return format;
}
const Format& brain() {
  static const Format format(8);
  return format;
}

void expect_nearest(double value) {
  ASSERT_EQ(to_float16(value).bits, half().nearest(value)) << std::hexfloat << value;
  ASSERT_EQ(to_bfloat16(value).bits, brain().nearest(value)) << std::hexfloat << value;
}
void expect_nearest(float value) {
  ASSERT_EQ(to_float16(value).bits, half().nearest(static_cast<double>(value))) << std::hexfloat << value;
  ASSERT_EQ(to_bfloat16(value).bits, brain().nearest(static_cast<double>(value))) << std::hexfloat << value;
}

template <class Half, class Narrow>
void expect_round_trip(const Format& format, const Narrow& narrow) {
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const Half stored{static_cast<std::uint16_t>(pattern)};
    const float wide = to_float(stored);
    const int magnitude = pattern & 0x7fff;
    if (magnitude > format.infinity()) {
      ASSERT_TRUE(std::isnan(wide)) << pattern;
      const int quiet = 1 << (14 - format.exponent_bits);  // the fraction's leading bit
      ASSERT_EQ(narrow(wide).bits, pattern | quiet) << pattern;
      continue;
    }
    const double size = magnitude == format.infinity() ? std::numeric_limits<double>::infinity()
                                                       : format.values[static_cast<std::size_t>(magnitude)];
    ASSERT_EQ(static_cast<double>(wide), pattern < 0x8000 ? size : -size) << pattern;
    ASSERT_EQ(std::signbit(wide), pattern >= 0x8000) << pattern;
    ASSERT_EQ(narrow(wide).bits, pattern) << pattern;
    ASSERT_EQ(narrow(static_cast<double>(wide)).bits, pattern) << pattern;
  }
}

TEST(Element, EveryFloat16RoundTrips) {
  expect_round_trip<Float16>(half(), [](auto value) { return to_float16(value); });
}

TEST(Element, EveryBFloat16RoundTrips) {
  expect_round_trip<BFloat16>(brain(), [](auto value) { return to_bfloat16(value); });
}

// The midpoint of any two neighbours, and the numbers next to it, as float and as double. The last midpoint is
// between the largest finite value and the next one, which does not exist: from there on, infinity.
void expect_ties(const Format& format) {
  for (std::size_t i = 0; i + 1 < format.values.size(); ++i) {
    const double middle = (format.values[i] + format.values[i + 1]) / 2;
    const float single = static_cast<float>(middle);
    ASSERT_EQ(static_cast<double>(single), middle);
    for (const double sign : {1.0, -1.0}) {
      expect_nearest(sign * middle);
      expect_nearest(sign * std::nextafter(middle, 0.0));
      expect_nearest(sign * std::nextafter(middle, std::numeric_limits<double>::infinity()));
      const float signed_single = static_cast<float>(sign) * single;
      expect_nearest(signed_single);
      expect_nearest(std::nextafter(signed_single, 0.0f));
      expect_nearest(std::nextafter(signed_single, static_cast<float>(sign) * std::numeric_limits<float>::infinity()));
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Element, Float16TiesRoundToEven) { expect_ties(half()); }
TEST(Element, BFloat16TiesRoundToEven) { expect_ties(brain()); }

TEST(Element, RandomNumbersRoundToNearest) {
  std::mt19937_64 engine(5);
  std::uniform_real_distribution<double> exponent(-150, 128);
  std::uniform_real_distribution<double> near_half(-30, 17);
  for (int i = 0; i < 100000; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    expect_nearest(sign * std::exp2(exponent(engine)));
    expect_nearest(sign * std::exp2(near_half(engine)));
    expect_nearest(static_cast<float>(sign * std::exp2(near_half(engine))));
    if (HasFatalFailure()) return;
  }
}

TEST(Element, EdgeCasesByHand) {
  EXPECT_EQ(to_float16(1.0f).bits, 0x3c00);
  EXPECT_EQ(to_float16(65504.0f).bits, 0x7bff);    // the largest
  EXPECT_EQ(to_float16(65519.996f).bits, 0x7bff);  // just below the tie with 2^16
  EXPECT_EQ(to_float16(65520.0f).bits, 0x7c00);    // the tie: infinity is even
  EXPECT_EQ(to_float16(-1e30f).bits, 0xfc00);
  EXPECT_EQ(to_float16(0x1p-24f).bits, 0x0001);    // the smallest
  EXPECT_EQ(to_float16(0x1p-25f).bits, 0x0000);    // half of it: to even
  EXPECT_EQ(to_float16(0x1.8p-24f).bits, 0x0002);  // one and a half of it: to even
  EXPECT_EQ(to_float16(-0x1.000002p-25f).bits, 0x8001);
  EXPECT_EQ(to_float16(0x1p-14f).bits, 0x0400);  // the smallest normal
  EXPECT_EQ(to_float16(-0.0f).bits, 0x8000);
  EXPECT_EQ(to_bfloat16(1.0f).bits, 0x3f80);
  EXPECT_EQ(to_bfloat16(0x1.01p0f).bits, 0x3f80);  // the tie below 1 + 2^-7: to even
  EXPECT_EQ(to_bfloat16(0x1.03p0f).bits, 0x3f82);  // the tie above it: up to even
  EXPECT_EQ(to_bfloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(to_bfloat16(1e300).bits, 0x7f80);
  EXPECT_EQ(to_bfloat16(-1e300).bits, 0xff80);
  EXPECT_EQ(to_bfloat16(1e-300).bits, 0x0000);
  EXPECT_EQ(to_bfloat16(-0.0).bits, 0x8000);
  EXPECT_EQ(to_float16(std::numeric_limits<double>::denorm_min()).bits, 0x0000);
}

// Just above a tie by less than a float can represent: rounding to float first would give the tie and then round down
// to even.
TEST(Element, ADoubleIsRoundedOnce) {
  const double above_tie_half = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_EQ(to_float16(above_tie_half).bits, 0x3c01);
  EXPECT_EQ(to_float16(static_cast<float>(above_tie_half)).bits, 0x3c00);
  const double above_tie_brain = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(to_bfloat16(above_tie_brain).bits, 0x3f81);
  EXPECT_EQ(to_bfloat16(static_cast<float>(above_tie_brain)).bits, 0x3f80);
  const double above_smallest_tie = 0x1p-25 + 0x1p-60;
  EXPECT_EQ(to_float16(above_smallest_tie).bits, 0x0001);
  EXPECT_EQ(to_float16(static_cast<float>(above_smallest_tie)).bits, 0x0000);
}

TEST(Element, KeepsNanAndInfinity) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_float16(infinity).bits, 0x7c00);
  EXPECT_EQ(to_float16(-infinity).bits, 0xfc00);
  EXPECT_EQ(to_bfloat16(infinity).bits, 0x7f80);
  EXPECT_EQ(to_bfloat16(-static_cast<double>(infinity)).bits, 0xff80);
  // Patterns whose upper half is that of infinity: truncation would lose the NaN.
  for (const std::uint32_t bits : {0x7f800001u, 0xff800001u, 0x7fffffffu, 0x7fc00000u}) {
    const float nan = std::bit_cast<float>(bits);
    EXPECT_TRUE(std::isnan(to_float(to_float16(nan)))) << bits;
    EXPECT_TRUE(std::isnan(to_float(to_bfloat16(nan)))) << bits;
    EXPECT_TRUE(std::isnan(to_float(to_float16(static_cast<double>(nan))))) << bits;
    EXPECT_TRUE(std::isnan(to_float(to_bfloat16(static_cast<double>(nan))))) << bits;
    EXPECT_EQ(to_bfloat16(nan).bits >> 15, bits >> 31) << bits;
    EXPECT_EQ(to_float16(nan).bits >> 15, bits >> 31) << bits;
  }
}

TEST(Element, SizesAndNames) {
  EXPECT_EQ(size_of(ElementType::float32), 4u);
  EXPECT_EQ(size_of(ElementType::float64), 8u);
  EXPECT_EQ(size_of(ElementType::bfloat16), 2u);
  EXPECT_EQ(size_of(ElementType::float16), 2u);
  EXPECT_EQ(name_of(ElementType::float32), "float32");
  EXPECT_EQ(name_of(ElementType::float64), "float64");
  EXPECT_EQ(name_of(ElementType::bfloat16), "bfloat16");
  EXPECT_EQ(name_of(ElementType::float16), "float16");
}

}  // namespace
}  // namespace locus
