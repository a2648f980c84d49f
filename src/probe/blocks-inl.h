// SPDX-License-Identifier: Apache-2.0
// Quantised weights as 16-bit lanes, for one SIMD target: one struct per type, laid out as src/io/gguf_blocks.cpp says.
//
// In every type a group of 32 elements is  scale x integer - minimum:
//   factors(block, scale, minimum)   one of each per group; minimum only where the type has one
//   visit(d, block, visitor)         visitor.add(offset, integers) for each vector, visitor.end(group) after each group

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

// Q6_K has a scale for every 16 elements: no vector may be wider.
using Integers = hn::CappedTag<std::int16_t, 16>;
constexpr std::size_t group_size = 32;

HWY_INLINE float half_at(const std::uint8_t* from) {
  Float16 value;
  std::memcpy(&value, from, sizeof(value));
  const hn::CappedTag<float, 1> one;
  return hn::GetLane(load(one, &value));
}

HWY_INLINE hn::Vec<Integers> bytes_at(Integers d, const std::uint8_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<std::uint8_t, Integers>(), from));
}

struct BlockQ8_0 {
  static constexpr std::size_t elements = 32, bytes = 34;
  static constexpr bool has_minimum = false;
  static HWY_INLINE void factors(const std::uint8_t* block, float* scale, float*) { *scale = half_at(block); }
  template <class Visitor>
  static HWY_INLINE void visit(Integers d, const std::uint8_t* block, Visitor& visitor) {
    const hn::Rebind<std::int8_t, Integers> d8;
    const auto* const q = reinterpret_cast<const std::int8_t*>(block + 2);
    for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) visitor.add(i, hn::PromoteTo(d, hn::LoadU(d8, q + i)));
    visitor.end(0);
  }
};

struct BlockQ4_0 {
  static constexpr std::size_t elements = 32, bytes = 18;
  static constexpr bool has_minimum = false;
  static HWY_INLINE void factors(const std::uint8_t* block, float* scale, float*) { *scale = half_at(block); }
  template <class Visitor>
  static HWY_INLINE void visit(Integers d, const std::uint8_t* block, Visitor& visitor) {
    const auto eight = hn::Set(d, 8), low = hn::Set(d, 15);
    for (std::size_t i = 0; i < 16; i += hn::Lanes(d)) {
      const auto both = bytes_at(d, block + 2 + i);
      visitor.add(i, hn::Sub(hn::And(both, low), eight));
      visitor.add(i + 16, hn::Sub(hn::ShiftRight<4>(both), eight));
    }
    visitor.end(0);
  }
};

struct BlockQ4_K {
  static constexpr std::size_t elements = 256, bytes = 144;
  static constexpr bool has_minimum = true;
  // The twelve bytes are read as three words: the low six bits of bytes 0-3 and 4-7 are the first four scales and
  // minima; bytes 8-11 and the upper two bits of the others make the rest.
  static HWY_INLINE void factors(const std::uint8_t* block, float* scale, float* minimum) {
    std::uint32_t word[3];
    std::memcpy(word, block + 4, sizeof(word));
    constexpr std::uint32_t six = 0x3f3f3f3f, four = 0x0f0f0f0f, two = 0x03030303;
    const std::uint32_t scales[2] = {word[0] & six, (word[2] & four) | (word[0] >> 6 & two) << 4};
    const std::uint32_t minima[2] = {word[1] & six, (word[2] >> 4 & four) | (word[1] >> 6 & two) << 4};
    multiply_bytes(half_at(block), scales, scale);
    multiply_bytes(half_at(block + 2), minima, minimum);
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

 private:
  static HWY_INLINE void multiply_bytes(float unit, const std::uint32_t (&words)[2], float* out) {
    const hn::CappedTag<float, 8> d;
    const hn::RebindToSigned<decltype(d)> di;
    const hn::Rebind<std::uint8_t, decltype(d)> d8;
    const auto* const numbers = reinterpret_cast<const std::uint8_t*>(words);
    for (std::size_t i = 0; i < 8; i += hn::Lanes(d)) {
      const auto wide = hn::PromoteTo(di, hn::LoadU(d8, numbers + i));
      hn::StoreU(hn::Mul(hn::Set(d, unit), hn::ConvertTo(d, wide)), d, out + i);
    }
  }
};

struct BlockQ6_K {
  static constexpr std::size_t elements = 256, bytes = 210;
  static constexpr bool has_minimum = false;
  // The scales of 16 elements are whole numbers and go into the integers: at most 32 x 128.
  static HWY_INLINE void factors(const std::uint8_t* block, float* scale, float*) {
    const float unit = half_at(block + 208);
    for (std::size_t group = 0; group < 8; ++group) scale[group] = unit;
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
  template <int r, class Visitor>
  static HWY_INLINE void quarter(Integers d, const std::uint8_t* block, std::size_t half, Visitor& visitor) {
    const std::uint8_t* const low = block + half * 64 + r % 2 * 32;
    const std::uint8_t* const high = block + 128 + half * 32;
    const std::uint8_t* const scales = block + 192 + half * 8 + 2 * r;
    for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
      const auto both = bytes_at(d, low + i);
      const auto four = r < 2 ? hn::And(both, hn::Set(d, 15)) : hn::ShiftRight<4>(both);
      const auto two = hn::And(hn::ShiftRight<2 * r>(hn::ShiftLeft<4>(bytes_at(d, high + i))), hn::Set(d, 48));
      const auto scale = hn::Set(d, static_cast<std::int8_t>(scales[i / 16]));
      visitor.add(half * 128 + r * 32 + i, hn::Mul(scale, hn::Sub(hn::Or(four, two), hn::Set(d, 32))));
    }
    visitor.end(half * 4 + r);
  }
};

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
