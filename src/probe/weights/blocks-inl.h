// SPDX-License-Identifier: Apache-2.0
// Quantised weights as 16-bit lanes, for one SIMD target: one struct per type, with the layout of
// src/io/gguf_blocks.cpp.
//
// In every type a group of 32 elements (Q6_K: 16) is  scale x (integer - offset) - minimum:
//   factors(block, x_scale, scale, minimum)   scale times x_scale, and minimum if the type has one: one per group
//   visit(block, visitor)                     visitor.add(run, word, even, odd) for each vector
//
// Two neighbours are stored in two bytes, which form one 16-bit word. Masks and shifts split a vector of words into
// the elements of even and of odd index, which is cheaper than widening bytes. `run` counts 32 elements; lane i holds
// elements 2 (word + i) and 2 (word + i) + 1 of it.

#if defined(LOCUS_PROBE_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_PROBE_BLOCKS_INL_H_
#undef LOCUS_PROBE_BLOCKS_INL_H_
#else
#define LOCUS_PROBE_BLOCKS_INL_H_
#endif

#include <cstring>

#include "hwy/highway.h"
#include "locus/element.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {

// One run of at most 32 elements.
using Integers = hn::CappedTag<std::int16_t, 16>;

HWY_INLINE float half_at(const std::uint8_t* from) {
  Float16 value;
  std::memcpy(&value, from, sizeof(value));
  const hn::CappedTag<float, 1> one;
  return hn::GetLane(load(one, &value));
}

/// The same in one instruction, if eight bytes may be read.
HWY_INLINE float half_before_others(const std::uint8_t* from) {
  Float16 values[4];
  std::memcpy(values, from, sizeof(values));
  const hn::CappedTag<float, 4> d;
  return hn::GetLane(load(d, values));
}

template <class D>
HWY_INLINE hn::Vec<D> words_at(D d, const std::uint8_t* from) {
  if constexpr (hn::MaxLanes(D()) == 1) {
    std::int16_t word;
    std::memcpy(&word, from, sizeof(word));
    return hn::Set(d, word);
  } else {
    return hn::BitCast(d, hn::LoadU(hn::Repartition<std::uint8_t, D>(), from));
  }
}

/// 16 bytes twice, the second time shifted right by four bits (the upper bits are undefined).
template <class D>
HWY_INLINE hn::Vec<D> bytes_and_their_upper_bits(D d, const std::uint8_t* from) {
  const hn::Repartition<std::uint32_t, D> d32;
  const hn::Repartition<std::uint8_t, D> d8;
  const auto shifts = hn::ShiftLeft<2>(hn::ShiftRight<2>(hn::Iota(d32, 0)));  // 0 in four lanes, 4 in the other four
  return hn::BitCast(d, hn::Shr(hn::BitCast(d32, hn::LoadDup128(d8, from)), shifts));
}

// Shifts every word as an unsigned number.
template <int bits, class D>
HWY_INLINE hn::Vec<D> shifted_right(D d, hn::Vec<D> words) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::ShiftRight<bits>(hn::BitCast(du, words)));
}

///   for (b < blocks) out[b] = float16 at from + b * block_bytes, times factors[b];
/// Eight are combined in registers: loading a vector soon after storing its elements one by one would stall.
template <std::size_t blocks, std::size_t block_bytes>
HWY_INLINE void multiply_halves(const std::uint8_t* from, const float* factors, float* out) {
  if constexpr (blocks % 8 != 0) {
    for (std::size_t b = 0; b < blocks; ++b) out[b] = half_at(from + block_bytes * b) * factors[b];
  } else {
    const hn::CappedTag<float, 8> d;
    for (std::size_t first = 0; first < blocks; first += 8) {
      std::uint64_t words[2] = {};
      for (std::size_t b = 0; b < 8; ++b) {
        std::uint16_t half;
        std::memcpy(&half, from + block_bytes * (first + b), sizeof(half));
        words[b / 4] |= std::uint64_t{half} << 16 * (b % 4);
      }
      Float16 halves[8];
      std::memcpy(halves, words, sizeof(halves));
      for (std::size_t b = 0; b < 8; b += hn::Lanes(d)) {
        hn::StoreU(hn::Mul(load(d, halves + b), hn::LoadU(d, factors + first + b)), d, out + first + b);
      }
    }
  }
}

///   for (i < count) out[i] = unit * numbers[i] * factors[i];   factors may be null, count is a multiple of 8
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

// Eight blocks at a time if the row has as many, which saves work per block.
template <std::size_t blocks>
struct BlocksQ8_0 {
  static constexpr std::size_t elements = 32 * blocks, bytes = 34 * blocks, group_size = 32;
  static constexpr int offset = 0;
  static constexpr bool has_minimum = false;
  static HWY_INLINE void factors(const std::uint8_t* block, const float* x_scale, float* scale, float*) {
    multiply_halves<blocks, bytes / blocks>(block, x_scale, scale);
  }
  template <class Visitor>
  static HWY_INLINE void visit(const std::uint8_t* block, Visitor& visitor) {
    const Integers d;
    for (std::size_t b = 0; b < blocks; ++b) {
      for (std::size_t w = 0; w < 16; w += hn::Lanes(d)) {
        const auto both = words_at(d, block + 34 * b + 2 + 2 * w);
        visitor.add(b, w, hn::ShiftRight<8>(hn::ShiftLeft<8>(both)), hn::ShiftRight<8>(both));
      }
    }
  }
};

template <std::size_t blocks>
struct BlocksQ4_0 {
  static constexpr std::size_t elements = 32 * blocks, bytes = 18 * blocks, group_size = 32;
  static constexpr int offset = 8;
  static constexpr bool has_minimum = false;
  static HWY_INLINE void factors(const std::uint8_t* block, const float* x_scale, float* scale, float*) {
    multiply_halves<blocks, bytes / blocks>(block, x_scale, scale);
  }
  // The lower four bits of 16 bytes are elements 0 to 15, the upper four bits elements 16 to 31.
  template <class Visitor, class D = Integers>
  static HWY_INLINE void visit(const std::uint8_t* block, Visitor& visitor) {
    constexpr bool whole_runs = hn::MaxLanes(D()) == 16;
    const D d;
    const auto low = hn::Set(d, 15);
    for (std::size_t b = 0; b < blocks; ++b) {
      const std::uint8_t* const bytes = block + 18 * b + 2;
      if constexpr (whole_runs) {
        const auto twice = bytes_and_their_upper_bits(d, bytes);
        visitor.add(b, 0, hn::And(twice, low), hn::And(hn::ShiftRight<8>(twice), low));
      } else {
        for (std::size_t w = 0; w < 8; w += hn::Lanes(d)) {
          const auto both = words_at(d, bytes + 2 * w);
          visitor.add(b, w, hn::And(both, low), hn::And(hn::ShiftRight<8>(both), low));
          visitor.add(b, w + 8, hn::And(hn::ShiftRight<4>(both), low), shifted_right<12>(d, both));
        }
      }
    }
  }
};

struct BlockQ4_K {
  static constexpr std::size_t elements = 256, bytes = 144, group_size = 32;
  static constexpr int offset = 0;
  static constexpr bool has_minimum = true;
  // The twelve bytes are read as three words: the low six bits of bytes 0-3 and 4-7 are the first four scales and
  // minima; bytes 8-11 and the upper two bits of the others make the rest.
  static HWY_INLINE void factors(const std::uint8_t* block, const float* x_scale, float* scale, float* minimum) {
    std::uint32_t word[3];
    std::memcpy(word, block + 4, sizeof(word));
    constexpr std::uint32_t six = 0x3f3f3f3f, four = 0x0f0f0f0f, two = 0x03030303;
    const std::uint32_t scales[2] = {word[0] & six, (word[2] & four) | (word[0] >> 6 & two) << 4};
    const std::uint32_t minima[2] = {word[1] & six, (word[2] >> 4 & four) | (word[1] >> 6 & two) << 4};
    multiply_bytes(half_before_others(block), reinterpret_cast<const std::uint8_t*>(scales), 8, x_scale, scale);
    multiply_bytes(half_before_others(block + 2), reinterpret_cast<const std::uint8_t*>(minima), 8, nullptr, minimum);
  }
  template <class Visitor>
  static HWY_INLINE void visit(const std::uint8_t* block, Visitor& visitor) {
    const Integers d;
    const auto low = hn::Set(d, 15);
    for (std::size_t b = 0; b < 8; b += 2) {
      for (std::size_t w = 0; w < 16; w += hn::Lanes(d)) {
        const auto both = words_at(d, block + 16 + 16 * b + 2 * w);
        visitor.add(b, w, hn::And(both, low), hn::And(hn::ShiftRight<8>(both), low));
        visitor.add(b + 1, w, hn::And(hn::ShiftRight<4>(both), low), shifted_right<12>(d, both));
      }
    }
  }
};

struct BlockQ6_K {
  static constexpr std::size_t elements = 256, bytes = 210, group_size = 16;
  static constexpr int offset = 32;
  static constexpr bool has_minimum = false;
  static HWY_INLINE void factors(const std::uint8_t* block, const float* x_scale, float* scale, float*) {
    multiply_bytes(half_at(block + 208), reinterpret_cast<const std::int8_t*>(block + 192), 16, x_scale, scale);
  }
  template <class Visitor>
  static HWY_INLINE void visit(const std::uint8_t* block, Visitor& visitor) {
    for (std::size_t half = 0; half < 2; ++half) {
      for (std::size_t w = 0; w < 16; w += hn::Lanes(Integers())) {
        quarter<0>(block, half, w, visitor);
        quarter<1>(block, half, w, visitor);
        quarter<2>(block, half, w, visitor);
        quarter<3>(block, half, w, visitor);
      }
    }
  }

 private:
  // Bits 2r and 2r + 1 of every byte, moved to bits 4 and 5.
  template <int r>
  static HWY_INLINE hn::Vec<Integers> upper_bits(hn::Vec<Integers> words) {
    const Integers d;
    const auto mask = hn::Set(d, 0x3030);
    if constexpr (r < 2) {
      return hn::And(hn::ShiftLeft<4 - 2 * r>(words), mask);
    } else {
      return hn::And(hn::ShiftRight<2 * r - 4>(words), mask);
    }
  }
  template <int r, class Visitor>
  static HWY_INLINE void quarter(const std::uint8_t* block, std::size_t half, std::size_t w, Visitor& visitor) {
    const Integers d;
    const auto low = words_at(d, block + 64 * half + r % 2 * 32 + 2 * w);
    const auto four = hn::And(r < 2 ? low : hn::ShiftRight<4>(low), hn::Set(d, 0x0f0f));
    const auto six = hn::Or(four, upper_bits<r>(words_at(d, block + 128 + 32 * half + 2 * w)));
    visitor.add(4 * half + r, w, hn::And(six, hn::Set(d, 255)), hn::ShiftRight<8>(six));
  }
};

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
