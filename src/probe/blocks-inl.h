// SPDX-License-Identifier: Apache-2.0
// Quantised weights as 16-bit lanes, for one SIMD target: one struct per type, laid out as src/io/gguf_blocks.cpp says.
//
// In every type a group of 32 elements (Q6_K: 16) is  scale x integer - minimum:
//   factors(block, x_scale, scale, minimum)   scale times x_scale, one per group; minimum only where the type has one
//   visit(d, block, visitor)   visitor.add(offset, integers) for each vector, visitor.end(group) after each group

#if defined(LOCUS_PROBE_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_PROBE_BLOCKS_INL_H_
#undef LOCUS_PROBE_BLOCKS_INL_H_
#else
#define LOCUS_PROBE_BLOCKS_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "kernels/widen-inl.h"
#include "locus/element.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {

// No vector may be wider than the smallest group.
using Integers = hn::CappedTag<std::int16_t, 16>;

HWY_INLINE float half_at(const std::uint8_t* from) {
  Float16 value;
  std::memcpy(&value, from, sizeof(value));
  const hn::CappedTag<float, 1> one;
  return hn::GetLane(load(one, &value));
}

HWY_INLINE hn::Vec<Integers> bytes_at(Integers d, const std::uint8_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, Integers>(), from));
}

/// out[i] = unit x numbers[i] x factors[i], the last where given; `count` is a multiple of 8.
template <class Byte>
HWY_INLINE void multiply_bytes(float unit, const Byte* numbers, std::size_t count, const float* factors, float* out) {
  const hn::CappedTag<float, 8> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<Byte, decltype(d)> d8;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto wide = hn::PromoteTo(di, hn::LoadU(d8, numbers + i));
    auto product = hn::Mul(hn::Set(d, unit), hn::ConvertTo(d, wide));
    if (factors != nullptr) product = hn::Mul(product, hn::LoadU(d, factors + i));
    hn::StoreU(product, d, out + i);
  }
}

// Eight blocks at a time where a row has so many: less is done per block.
template <std::size_t blocks>
struct BlocksQ8_0 {
  static constexpr std::size_t elements = 32 * blocks, bytes = 34 * blocks, group_size = 32;
  static constexpr bool has_minimum = false;
  static HWY_INLINE void factors(const std::uint8_t* block, const float* x_scale, float* scale, float*) {
    for (std::size_t b = 0; b < blocks; ++b) scale[b] = half_at(block + 34 * b) * x_scale[b];
  }
  template <class Visitor>
  static HWY_INLINE void visit(Integers d, const std::uint8_t* block, Visitor& visitor) {
    const hn::Rebind<std::int8_t, Integers> d8;
    for (std::size_t b = 0; b < blocks; ++b) {
      const auto* const q = reinterpret_cast<const std::int8_t*>(block + 34 * b + 2);
      for (std::size_t i = 0; i < 32; i += hn::Lanes(d))
        visitor.add(32 * b + i, hn::PromoteTo(d, hn::LoadU(d8, q + i)));
      visitor.end(b);
    }
  }
};

template <std::size_t blocks>
struct BlocksQ4_0 {
  static constexpr std::size_t elements = 32 * blocks, bytes = 18 * blocks, group_size = 32;
  static constexpr bool has_minimum = false;
  static HWY_INLINE void factors(const std::uint8_t* block, const float* x_scale, float* scale, float*) {
    for (std::size_t b = 0; b < blocks; ++b) scale[b] = half_at(block + 18 * b) * x_scale[b];
  }
  template <class Visitor>
  static HWY_INLINE void visit(Integers d, const std::uint8_t* block, Visitor& visitor) {
    const auto eight = hn::Set(d, 8), low = hn::Set(d, 15);
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t i = 0; i < 16; i += hn::Lanes(d)) {
        const auto both = bytes_at(d, block + 18 * b + 2 + i);
        visitor.add(32 * b + i, hn::Sub(hn::And(both, low), eight));
        visitor.add(32 * b + i + 16, hn::Sub(hn::ShiftRight<4>(both), eight));
      }
      visitor.end(b);
    }
  }
};

struct BlockQ4_K {
  static constexpr std::size_t elements = 256, bytes = 144, group_size = 32;
  static constexpr bool has_minimum = true;
  // The twelve bytes are read as three words: the low six bits of bytes 0-3 and 4-7 are the first four scales and
  // minima; bytes 8-11 and the upper two bits of the others make the rest.
  static HWY_INLINE void factors(const std::uint8_t* block, const float* x_scale, float* scale, float* minimum) {
    std::uint32_t word[3];
    std::memcpy(word, block + 4, sizeof(word));
    constexpr std::uint32_t six = 0x3f3f3f3f, four = 0x0f0f0f0f, two = 0x03030303;
    const std::uint32_t scales[2] = {word[0] & six, (word[2] & four) | (word[0] >> 6 & two) << 4};
    const std::uint32_t minima[2] = {word[1] & six, (word[2] >> 4 & four) | (word[1] >> 6 & two) << 4};
    multiply_bytes(half_at(block), reinterpret_cast<const std::uint8_t*>(scales), 8, x_scale, scale);
    multiply_bytes(half_at(block + 2), reinterpret_cast<const std::uint8_t*>(minima), 8, nullptr, minimum);
  }
  template <class Visitor>
  static HWY_INLINE void visit(Integers d, const std::uint8_t* block, Visitor& visitor) {
    for (std::size_t b = 0; b < 8; b += 2) {
      const std::uint8_t* const q = block + 16 + b * 16;
      for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
        visitor.add(b * 32 + i, hn::And(bytes_at(d, q + i), hn::Set(d, 15)));
      }
      visitor.end(b);
      for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
        visitor.add(b * 32 + 32 + i, hn::ShiftRight<4>(bytes_at(d, q + i)));
      }
      visitor.end(b + 1);
    }
  }
};

struct BlockQ6_K {
  static constexpr std::size_t elements = 256, bytes = 210, group_size = 16;
  static constexpr bool has_minimum = false;
  static HWY_INLINE void factors(const std::uint8_t* block, const float* x_scale, float* scale, float*) {
    multiply_bytes(half_at(block + 208), reinterpret_cast<const std::int8_t*>(block + 192), 16, x_scale, scale);
  }
  template <class Visitor>
  static HWY_INLINE void visit(Integers d, const std::uint8_t* block, Visitor& visitor) {
    for (std::size_t half = 0; half < 2; ++half) {
      quarter<0>(d, block, half, visitor);
      quarter<1>(d, block, half, visitor);
      quarter<2>(d, block, half, visitor);
      quarter<3>(d, block, half, visitor);
    }
  }

 private:
  // Bits 2r and 2r + 1 of a byte, moved to bits 4 and 5.
  template <int r>
  static HWY_INLINE hn::Vec<Integers> two_bits(Integers d, hn::Vec<Integers> high) {
    if constexpr (r < 2) return hn::And(hn::ShiftLeft<4 - 2 * r>(high), hn::Set(d, 48));
    return hn::And(hn::ShiftRight < r < 2 ? 0 : 2 * r - 4 > (high), hn::Set(d, 48));
  }
  template <int r, class Visitor>
  static HWY_INLINE void quarter(Integers d, const std::uint8_t* block, std::size_t half, Visitor& visitor) {
    const std::uint8_t* const low = block + half * 64 + r % 2 * 32;
    const std::uint8_t* const high = block + 128 + half * 32;
    for (std::size_t group = 0; group < 2; ++group) {
      for (std::size_t i = 16 * group; i < 16 * group + 16; i += hn::Lanes(d)) {
        const auto both = bytes_at(d, low + i);
        const auto four = r < 2 ? hn::And(both, hn::Set(d, 15)) : hn::ShiftRight<4>(both);
        const auto two = two_bits<r>(d, bytes_at(d, high + i));
        visitor.add(half * 128 + r * 32 + i, hn::Sub(hn::Or(four, two), hn::Set(d, 32)));
      }
      visitor.end(half * 8 + r * 2 + group);
    }
  }
};

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
