// SPDX-License-Identifier: Apache-2.0
// Compares products with stored weights, on every SIMD target, with decoded blocks (src/io) and sums in double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "locus/element.h"
#include "locus/io/gguf_blocks.h"
#include "probe/ops.h"
#include "probe/weights/product_simd.h"
#include "support/on_every_target.h"

namespace locus::probe {
namespace {

using Type = WeightType;
constexpr Type all_types[] = {Type::f32, Type::f16, Type::bf16, Type::q8_0, Type::q4_0, Type::q4_k, Type::q6_k};

/// The offsets of a block's float16 numbers.
std::vector<std::size_t> halves_in(Type type) {
  switch (type) {
    case Type::q8_0:
    case Type::q4_0:
      return {0};
    case Type::q4_k:
      return {0, 2};
    case Type::q6_k:
      return {208};
    default:
      return {};
  }
}

/// Arbitrary blocks with scales of both signs; `numbers` are their decoded values.
struct RandomMatrix {
  std::vector<std::byte> bytes;
  std::vector<float> numbers;
  Matrix matrix;

  RandomMatrix(Type type, std::int64_t rows, std::int64_t columns, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    const io::GgufBlock& block = *io::find_gguf_block(type);
    const auto blocks = static_cast<std::size_t>(rows * columns) / block.elements;
    bytes.resize(blocks * block.bytes);
    numbers.resize(static_cast<std::size_t>(rows * columns));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 255);
    for (std::size_t b = 0; b < blocks; ++b) {
      std::byte* const at = bytes.data() + b * block.bytes;
      const float value = normal(random);
      if (type == Type::f32) std::memcpy(at, &value, sizeof(value));
      const Float16 half = to_float16(value);
      if (type == Type::f16) std::memcpy(at, &half, sizeof(half));
      const BFloat16 brain = to_bfloat16(value);
      if (type == Type::bf16) std::memcpy(at, &brain, sizeof(brain));
      for (const std::size_t place : halves_in(type)) {
        const Float16 scale = to_float16(normal(random));
        std::memcpy(at + place, &scale, sizeof(scale));
      }
      block.decode(at, numbers.data() + b * block.elements);
    }
    matrix = {.type = type,
              .rows = rows,
              .columns = columns,
              .row_bytes = columns / static_cast<std::int64_t>(block.elements) * static_cast<std::int64_t>(block.bytes),
              .data = bytes.data()};
  }
};

std::vector<float> random_row(std::int64_t columns, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> row;
  for (std::int64_t k = 0; k < columns; ++k) row.push_back(std::exp(2 * normal(random)) * normal(random));
  return row;
}

class Products : public locus::testing::OnEveryTarget {};
LOCUS_ON_EVERY_TARGET(Products);

TEST_P(Products, DecodedRowsAreWhatTheBlocksMean) {
  for (const Type type : all_types) {
    const RandomMatrix weights(type, 5, 768, 3);
    std::vector<float> out(2 * 768, 99.0f);
    decode_rows(weights.matrix, 2, 4, out.data());
    for (std::size_t i = 0; i < out.size(); ++i) {
      // Each element is a product, and at most a difference: rounded twice here, and twice there.
      const float meant = weights.numbers[2 * 768 + i];
      const float most = type == Type::q4_k ? 64 * 15 * 4.0f : std::abs(meant);
      ASSERT_LE(std::abs(out[i] - meant), most * 0x1p-22f) << io::name_of(type) << " element " << i;
    }
  }
}

/// The bound that product_simd.h states, worked out in double.
double bound_of(Type type, std::span<const float> weights, std::span<const float> x, float largest_offset) {
  double rounding = 0, integers = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double size = std::abs(weights[k]) + (is_quantised(type) ? largest_offset : 0);
    double most = 0;
    for (std::size_t i = k / 32 * 32; i < std::min(k / 32 * 32 + 32, x.size()); ++i) {
      most = std::max<double>(most, std::abs(x[i]));
    }
    rounding += size * std::abs(x[k]);
    integers += size * 1.0001 * 0x1p-16 * most;
  }
  return static_cast<double>(x.size()) * 0x1p-24 * rounding + (is_quantised(type) ? integers : 0);
}

TEST_P(Products, RowsTimesAVector) {
  for (const Type type : all_types) {
    const io::GgufBlock& block = *io::find_gguf_block(type);
    for (const std::int64_t columns : {32, 96, 256, 1280, 37}) {
      if (columns % static_cast<std::int64_t>(block.elements) != 0) continue;
      const RandomMatrix weights(type, 7, columns, 5);
      const std::vector<float> x = random_row(columns, 11);
      const IntegerRow integers = columns % 32 == 0 ? IntegerRow(x) : IntegerRow();
      std::vector<float> out(5);
      dot_rows(weights.matrix, 1, 6, x.data(), integers, out.data());
      const float largest = *std::max_element(weights.numbers.begin(), weights.numbers.end(),
                                              [](float a, float b) { return std::abs(a) < std::abs(b); });
      for (std::size_t r = 0; r < out.size(); ++r) {
        const auto row = std::span(weights.numbers).subspan((r + 1) * x.size(), x.size());
        double sum = 0;
        for (std::size_t k = 0; k < x.size(); ++k) sum += static_cast<double>(row[k]) * x[k];
        ASSERT_NEAR(out[r], sum, bound_of(type, row, x, std::abs(largest)))
            << io::name_of(type) << ", " << columns << " columns, row " << r;
      }
    }
  }
}

TEST_P(Products, ARowInIntegers) {
  std::vector<float> x = random_row(96, 2);
  std::fill(x.begin() + 32, x.begin() + 64, 0.0f);
  const IntegerRow row(x);
  for (std::size_t k = 0; k < x.size(); ++k) {
    const std::size_t first = k / 32 * 32;
    const std::size_t place = first + (k - first) / 2 + (k % 2) * 16;  // those of even index first
    double most = 0;
    for (std::size_t i = first; i < first + 32; ++i) most = std::max<double>(most, std::abs(x[i]));
    EXPECT_NEAR(row.by_32.scales[k / 32] * row.integers[place], x[k], 1.0001 * 0x1p-16 * most) << k;
    EXPECT_EQ(row.by_16.scales[k / 16], row.by_32.scales[k / 32]);
  }
  for (std::size_t g = 0; g < 6; ++g) {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const std::size_t even = g / 2 * 32 + g % 2 * 8 + i;
      sum += row.integers[even] + row.integers[even + 16];
    }
    EXPECT_EQ(row.by_16.integer_sums[g], static_cast<float>(sum)) << g;
    EXPECT_EQ(row.by_16.sums[g], row.by_16.scales[g] * static_cast<float>(sum)) << g;
  }
  EXPECT_EQ(row.by_32.integer_sums[2], row.by_16.integer_sums[4] + row.by_16.integer_sums[5]);
}

TEST_P(Products, PropagatesNonFiniteNumbers) {
  for (const float fault : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> x = random_row(256, 2);
    x[77] = fault;
    for (const Type type : all_types) {
      const RandomMatrix weights(type, 1, 256, 9);
      float out = 0;
      dot_rows(weights.matrix, 0, 1, x.data(), IntegerRow(x), &out);
      EXPECT_FALSE(std::isfinite(out)) << io::name_of(type);
    }
  }
}

TEST_P(Products, NumbersTooSmallForAnInverseAreZero) {
  const std::vector<float> x(32, std::numeric_limits<float>::denorm_min());
  const IntegerRow row(x);
  for (std::size_t k = 0; k < 32; ++k) EXPECT_EQ(row.integers[k], 0);
}

TEST_P(Products, SiluGates) {
  Rows gate(1, 37), up(1, 37);
  for (std::int64_t j = 0; j < 37; ++j) {
    gate.row(0)[j] = j == 0 ? -1000.0f : j == 1 ? 1000.0f : static_cast<float>(j - 18) * 1.7f;
    up.row(0)[j] = static_cast<float>(j) - 10.5f;
  }
  const Rows before = gate;
  gate_by_silu(gate, up, nullptr);
  for (std::int64_t j = 0; j < 37; ++j) {
    const double x = before.row(0)[j], meant = x / (1 + std::exp(-x)) * up.row(0)[j];
    // Highway's exponential is off by an ulp or two; then a sum, a quotient and a product.
    EXPECT_NEAR(gate.row(0)[j], meant, 6 * 0x1p-24 * std::abs(meant) + 1e-33) << x;
  }
}

}  // namespace
}  // namespace locus::probe
