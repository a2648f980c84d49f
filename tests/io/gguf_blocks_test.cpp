// SPDX-License-Identifier: Apache-2.0
// Blocks worked by hand from their definition. Scales are powers of two and the products small, so float32 is exact and
// results are compared for equality.
#include <gtest/gtest.h>

#include <array>

#include "io/bytes.h"
#include "locus/io/gguf.h"

namespace locus::io {
namespace {

constexpr std::uint16_t half_2 = 0x4000, half_0_5 = 0x3800, half_0_25 = 0x3400, half_0_125 = 0x3000;

std::vector<float> decoded(GgufTensorType type, const std::string& block, std::int64_t elements) {
  const auto bytes = on_heap(block);
  return to_floats({"t", type, {elements}, bytes}, "f");
}

TEST(GgufBlocks, F32F16AndBf16) {
  EXPECT_EQ(decoded(GgufTensorType::f32, Bytes().number(0.1f).number(-0.0f).str(), 2),
            (std::vector<float>{0.1f, -0.0f}));
  // 0x0001 is the smallest subnormal, 2^-24; 0x7bff the largest number, 65504
  EXPECT_EQ(decoded(GgufTensorType::f16, Bytes().number(std::uint16_t{0x0001}).number(std::uint16_t{0x7bff}).str(), 2),
            (std::vector<float>{0x1p-24f, 65504.0f}));
  // 0x4049 = 3.140625, the upper half of pi
  EXPECT_EQ(decoded(GgufTensorType::bf16, Bytes().number(std::uint16_t{0x4049}).str(), 1),
            std::vector<float>{3.140625f});
}

TEST(GgufBlocks, Q8_0) {
  Bytes block;
  std::vector<float> expected;
  block.number(half_0_5);
  for (int i = 0; i < 32; ++i) {
    block.number(static_cast<std::int8_t>(8 * i - 128));  // -128, -120, ... 120
    expected.push_back(static_cast<float>(4 * i - 64));
  }
  EXPECT_EQ(decoded(GgufTensorType::q8_0, block.str(), 32), expected);
}

TEST(GgufBlocks, Q4_0) {
  Bytes blocks;
  std::vector<float> expected(64);
  blocks.number(half_2);
  for (std::size_t j = 0; j < 16; ++j) {
    // low half j, high half 15 - j
    blocks.number(static_cast<std::uint8_t>(j + 16 * (15 - j)));
    expected[j] = 2 * static_cast<float>(j) - 16;
    expected[j + 16] = 14 - 2 * static_cast<float>(j);
  }
  // A second block: 0x98 everywhere is 0 in the first half and 1 in the second.
  blocks.number(half_0_25);
  for (std::size_t j = 0; j < 16; ++j) {
    blocks.number(std::uint8_t{0x98});
    expected[32 + j] = 0;
    expected[48 + j] = 0.25f;
  }
  EXPECT_EQ(decoded(GgufTensorType::q4_0, blocks.str(), 64), expected);
}

TEST(GgufBlocks, Q4_K) {
  // Scales and minima of six bits; the last four of each are split into a low half and two high bits:
  // 17 = 1|1, 33 = 2|1, 50 = 3|2, 63 = 3|15 and 20 = 1|4, 37 = 2|5, 54 = 3|6, 63 = 3|15 (high | low).
  const std::array<float, 8> scales = {1, 2, 3, 63, 17, 33, 50, 63};
  const std::array<float, 8> minima = {0, 5, 10, 63, 20, 37, 54, 63};
  const std::array<std::uint8_t, 12> packed = {
      0x41, 0x82, 0xc3, 0xff,  // 1 | 1 << 6, 2 | 2 << 6, 3 | 3 << 6, 63 | 3 << 6
      0x40, 0x85, 0xca, 0xff,  // 0 | 1 << 6, 5 | 2 << 6, 10 | 3 << 6, 63 | 3 << 6
      0x41, 0x51, 0x62, 0xff,  // 1 | 4 << 4, 1 | 5 << 4, 2 | 6 << 4, 15 | 15 << 4
  };
  const auto q = [](std::size_t i) { return (7 * i + i / 32 + 3) % 16; };
  Bytes block;
  block.number(half_0_5).number(half_0_25);
  for (const std::uint8_t byte : packed) block.number(byte);
  for (std::size_t chunk = 0; chunk < 256; chunk += 64) {
    for (std::size_t l = 0; l < 32; ++l) {
      block.number(static_cast<std::uint8_t>(q(chunk + l) | q(chunk + 32 + l) << 4));
    }
  }
  std::vector<float> expected;
  for (std::size_t i = 0; i < 256; ++i) {
    expected.push_back(0.5f * scales[i / 32] * static_cast<float>(q(i)) - 0.25f * minima[i / 32]);
  }
  ASSERT_EQ(block.size(), 144u);
  EXPECT_EQ(decoded(GgufTensorType::q4_k, block.str(), 256), expected);
}

TEST(GgufBlocks, Q6_K) {
  const auto q = [](std::size_t i) { return (37 * i + i / 64 + 11) % 64; };
  std::array<std::uint8_t, 128> low{};
  std::array<std::uint8_t, 64> high{};
  for (std::size_t half = 0; half < 2; ++half) {
    for (std::size_t l = 0; l < 32; ++l) {
      const std::size_t at = 128 * half + l;
      const std::array<std::size_t, 4> four = {q(at), q(at + 32), q(at + 64), q(at + 96)};
      low[64 * half + l] = static_cast<std::uint8_t>(four[0] % 16 + 16 * (four[2] % 16));
      low[64 * half + 32 + l] = static_cast<std::uint8_t>(four[1] % 16 + 16 * (four[3] % 16));
      high[32 * half + l] =
          static_cast<std::uint8_t>(four[0] / 16 + 4 * (four[1] / 16) + 16 * (four[2] / 16) + 64 * (four[3] / 16));
    }
  }
  Bytes block;
  for (const std::uint8_t byte : low) block.number(byte);
  for (const std::uint8_t byte : high) block.number(byte);
  for (int s = 0; s < 16; ++s) block.number(static_cast<std::int8_t>(17 * s - 128));
  block.number(half_0_125);
  std::vector<float> expected;
  for (std::size_t i = 0; i < 256; ++i) {
    const auto scale = static_cast<float>(17 * static_cast<int>(i / 16) - 128);
    expected.push_back(0.125f * scale * (static_cast<float>(q(i)) - 32));
  }
  ASSERT_EQ(block.size(), 210u);
  EXPECT_EQ(decoded(GgufTensorType::q6_k, block.str(), 256), expected);
}

TEST(GgufBlocks, RefusesBytesThatAreNotWholeBlocks) {
  EXPECT_NE(error_of([] { decoded(GgufTensorType::q8_0, std::string(33, 'x'), 32); }).find("whole Q8_0 blocks"),
            std::string::npos);
  EXPECT_NE(error_of([] { decoded(GgufTensorType::q8_0, std::string(34, 'x'), 31); }).find("whole Q8_0 blocks"),
            std::string::npos);
  EXPECT_NE(error_of([] { decoded(GgufTensorType::f32, std::string(8, 'x'), 3); }).find("whole F32 blocks"),
            std::string::npos);
}

}  // namespace
}  // namespace locus::io
