// SPDX-License-Identifier: Apache-2.0
// 16-bit stores with every SIMD target: to nearest, ties to even; NaN stays NaN, too large numbers become infinity,
// and subnormals are kept. The expected values come from the scalar conversions, which other tests check.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "elements.h"
#include "heads.h"
#include "kernels/add_simd.h"
#include "locus/rotate.h"
#include "support/on_every_target.h"

namespace locus {
namespace {

using testing::Heads;
using testing::ids_of;
using testing::packed;

constexpr std::int64_t width = 1021;  // full vectors, and a tail for any number of lanes

BFloat16 narrowed(float value, BFloat16) { return to_bfloat16(value); }
Float16 narrowed(float value, Float16) { return to_float16(value); }

template <class T>
T from_bits(std::uint32_t bits) {
  return {static_cast<std::uint16_t>(bits)};
}

template <class T>
::testing::AssertionResult is(T got, T want) {
  const bool both_nan = std::isnan(to_float(got)) && std::isnan(to_float(want));
  if (both_nan || got == want) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << std::hex << "got " << got.bits << ", want " << want.bits;
}

template <class Function>
void for_both_types(const Function& function) {
  for (const bool half : {false, true}) {
    SCOPED_TRACE(half ? "float16" : "bfloat16");
    half ? function(Float16()) : function(BFloat16());
  }
}

// Adds the values to zeros, a row at a time, which stores each of them as T. (add() takes only finite tables.)
template <class T>
std::vector<T> stored(const std::vector<float>& values) {
  std::vector<T> sums(values.size());
  for (std::size_t start = 0; start < values.size(); start += width) {
    const std::size_t count = std::min<std::size_t>(width, values.size() - start);
    add_row(element_type_of<T>, values.data() + start, count, sums.data() + start);
  }
  return sums;
}

class Narrow : public testing::OnEveryTarget {};

// Every value of the type, every tie between two of them, and the float32 neighbours of every tie.
TEST_P(Narrow, EveryValueAndEveryTie) {
  for_both_types([](auto zero) {
    using T = decltype(zero);
    std::vector<float> values;
    std::size_t ties = 0;
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float value = to_float(from_bits<T>(bits));
      values.push_back(value);
      const float next = to_float(from_bits<T>(bits + 1));
      if (!std::isfinite(value) || !std::isfinite(next)) continue;
      const double middle = (static_cast<double>(value) + static_cast<double>(next)) / 2;
      const float tie = static_cast<float>(middle);
      if (static_cast<double>(tie) == middle) ++ties;
      for (const float towards : {-INFINITY, INFINITY}) values.push_back(std::nextafter(tie, towards));
      values.push_back(tie);
    }
    EXPECT_GT(ties, 60000u);  // float32 holds them all
    const std::vector<T> got = stored<T>(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(is(got[i], narrowed(values[i] + 0.0f, T()))) << values[i];  // -0 + 0 is 0
    }
  });
}

TEST_P(Narrow, AnyFloat) {
  std::vector<float> values;
  std::uint32_t bits = 12345;
  for (int i = 0; i < 100000; ++i) values.push_back(std::bit_cast<float>(bits = bits * 1664525u + 1013904223u));
  for_both_types([&](auto zero) {
    using T = decltype(zero);
    const std::vector<T> got = stored<T>(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_TRUE(is(got[i], narrowed(values[i] + 0.0f, T()))) << values[i];
    }
  });
}

// Worked by hand. bfloat16 keeps 8 bits, float16 11 (and from 2^-24 on).
TEST_P(Narrow, ByHand) {
  const std::vector<std::pair<float, std::uint16_t>> bfloat16 = {
      {1 + 0x1p-8f, 0x3f80},                 // a tie between 1 and 1 + 2^-7: the even one is 1
      {1 + 3 * 0x1p-8f, 0x3f82},             // a tie again, the even one is above
      {1 + 0x1p-8f + 0x1p-23f, 0x3f81},      // just above a tie
      {1 + 3 * 0x1p-8f - 0x1p-23f, 0x3f81},  // just below
      {-1 - 3 * 0x1p-8f, 0xbf82},            // the sign does not matter
      {0x1.ffp127f, 0x7f80},                 // midpoint of the largest and 2^128: infinity
      {0x1.fefffep127f, 0x7f7f},             // below it: the largest
      {0x1p-134f, 0x0000},                   // half the least subnormal
      {0x1.8p-133f, 0x0002},                 // one and a half of it
      {std::numeric_limits<float>::infinity(), 0x7f80},
      {-std::numeric_limits<float>::infinity(), 0xff80},
  };
  const std::vector<std::pair<float, std::uint16_t>> float16 = {
      {1 + 0x1p-11f, 0x3c00},
      {1 + 3 * 0x1p-11f, 0x3c02},
      {1 + 0x1p-11f + 0x1p-23f, 0x3c01},
      {1 + 3 * 0x1p-11f - 0x1p-23f, 0x3c01},
      {-1 - 3 * 0x1p-11f, 0xbc02},
      {65520.0f, 0x7c00},  // halfway from 65504 to 65536
      {65519.996f, 0x7bff},
      {1e30f, 0x7c00},
      {0x1p-25f, 0x0000},  // half the least subnormal
      {0x1.000002p-25f, 0x0001},
      {0x1.8p-24f, 0x0002},
      {0x1.ff8p-15f, 0x03ff},  // the largest subnormal
      {0x1.ffcp-15f, 0x0400},  // halfway from it to 2^-14
      {std::numeric_limits<float>::infinity(), 0x7c00},
      {-std::numeric_limits<float>::infinity(), 0xfc00},
  };
  const auto check = [](auto zero, const auto& cases) {
    using T = decltype(zero);
    std::vector<float> values;
    for (const auto& [value, bits] : cases) values.insert(values.end(), 50, value);  // to fill vectors and tails
    const std::vector<T> got = stored<T>(values);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i].bits, cases[i / 50].second) << values[i];
    // A NaN whose kept bits are all zero must not become infinity.
    for (const T nan : stored<T>(std::vector<float>(50, std::bit_cast<float>(0x7f800001u)))) {
      EXPECT_TRUE(std::isnan(to_float(nan)));
    }
    for (const T nan : stored<T>(std::vector<float>(50, std::bit_cast<float>(0xffffffffu)))) {
      EXPECT_TRUE(std::isnan(to_float(nan)));
    }
  };
  check(BFloat16(), bfloat16);
  check(Float16(), float16);
}

// Rotates pairs (value, 0) at position 0, where cos is the magnitude and sin is 0, and returns x and y.
template <class T, class Check>
void at_position_zero(double magnitude, const std::string& pairing, const Check& check) {
  const Encoding encoding("rope", {{"head_dim", 2 * width},
                                   {"pairing", pairing},
                                   {"rule", "yarn"},
                                   {"factor", 1},
                                   {"original_length", 4096},
                                   {"attention_factor", magnitude}});
  const std::int64_t heads = 0x10000 / width + 1;
  Heads<T> all(packed(1, 1, heads, 2 * width));
  const auto place = [&](std::size_t i) {
    return pairing == "half" ? std::pair(i, i + width) : std::pair(2 * i, 2 * i + 1);
  };
  const auto bits = [](std::int64_t h, std::size_t i) {
    return static_cast<std::uint32_t>(h * width + static_cast<std::int64_t>(i)) & 0xffffu;
  };
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < width; ++i) {
      all.head(0, 0, h)[place(i).first] = from_bits<T>(bits(h, i));
      all.head(0, 0, h)[place(i).second] = T();
    }
  }
  rotate(encoding, all.view(), ids_of({0}));
  for (std::int64_t h = 0; h < heads; ++h) {
    for (std::size_t i = 0; i < width; ++i) {
      check(from_bits<T>(bits(h, i)), all.head(0, 0, h)[place(i).first], all.head(0, 0, h)[place(i).second]);
    }
  }
}

// Every value survives a rotation by zero; infinity times 0 is NaN by IEEE 754.
TEST_P(Narrow, RotationAtZeroIsTheIdentity) {
  for_both_types([](auto zero) {
    using T = decltype(zero);
    for (const std::string pairing : {"half", "interleaved"}) {
      at_position_zero<T>(1, pairing, [](T value, T x, T y) {
        EXPECT_TRUE(is(x, value));
        const bool finite = std::isfinite(to_float(value));
        EXPECT_TRUE(finite ? to_float(y) == 0 : std::isnan(to_float(y))) << std::hex << value.bits;
      });
    }
  });
}

// Times 1.5 is exact in float32, and for every other significand a tie in 16 bits.
TEST_P(Narrow, RotationWithAMagnitude) {
  for_both_types([](auto zero) {
    using T = decltype(zero);
    for (const std::string pairing : {"half", "interleaved"}) {
      at_position_zero<T>(1.5, pairing,
                          [](T value, T x, T) { EXPECT_TRUE(is(x, narrowed(to_float(value) * 1.5f, T()))); });
    }
  });
}

LOCUS_ON_EVERY_TARGET(Narrow);

}  // namespace
}  // namespace locus
