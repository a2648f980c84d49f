// SPDX-License-Identifier: Apache-2.0
// Stored weights as float32 lanes, for one SIMD target: one struct per type, laid out as src/io/gguf_blocks.cpp says.
// `decode(d, block, emit)` calls emit(offset, lanes) for every vector of the block, with ggml's own bits.

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

// Blocks have groups of 16 elements that share a scale: no vector may be wider.
using Lanes = hn::CappedTag<float, 16>;

HWY_INLINE float half_at(const std::uint8_t* from) {
  Float16 value;
  std::memcpy(&value, from, sizeof(value));
  const hn::CappedTag<float, 1> one;
  return hn::GetLane(load(one, &value));
}

// Bytes as unsigned 32-bit lanes: shifts and masks are the same for all types there.
HWY_INLINE auto bytes_at(Lanes, const std::uint8_t* from) {
  return hn::PromoteTo(hn::RebindToUnsigned<Lanes>(), hn::LoadU(hn::Rebind<std::uint8_t, Lanes>(), from));
}
template <class VU>
HWY_INLINE hn::Vec<Lanes> to_lanes(Lanes d, VU unsigned_values) {
  return hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<Lanes>(), unsigned_values));
}

struct BlockQ8_0 {
  static constexpr std::size_t elements = 32, bytes = 34;
  template <class Emit>
  static HWY_INLINE void decode(Lanes d, const std::uint8_t* block, const Emit& emit) {
    const hn::Rebind<std::int8_t, Lanes> d8;
    const auto scale = hn::Set(d, half_at(block));
    const auto* const q = reinterpret_cast<const std::int8_t*>(block + 2);
    for (std::size_t i = 0; i < elements; i += hn::Lanes(d)) {
      const auto wide = hn::PromoteTo(hn::RebindToSigned<Lanes>(), hn::LoadU(d8, q + i));
      emit(i, hn::Mul(scale, hn::ConvertTo(d, wide)));
    }
  }
};

struct BlockQ4_0 {
  static constexpr std::size_t elements = 32, bytes = 18;
  template <class Emit>
  static HWY_INLINE void decode(Lanes d, const std::uint8_t* block, const Emit& emit) {
    const hn::RebindToUnsigned<Lanes> du;
    const auto scale = hn::Set(d, half_at(block)), eight = hn::Set(d, 8.0f);
    for (std::size_t i = 0; i < 16; i += hn::Lanes(d)) {
      const auto both = bytes_at(d, block + 2 + i);
      emit(i, hn::Mul(scale, hn::Sub(to_lanes(d, hn::And(both, hn::Set(du, 15u))), eight)));
      emit(i + 16, hn::Mul(scale, hn::Sub(to_lanes(d, hn::ShiftRight<4>(both)), eight)));
    }
  }
};

struct BlockQ4_K {
  static constexpr std::size_t elements = 256, bytes = 144;
  template <class Emit>
  static HWY_INLINE void decode(Lanes d, const std::uint8_t* block, const Emit& emit) {
    const hn::RebindToUnsigned<Lanes> du;
    const float scale_unit = half_at(block), minimum_unit = half_at(block + 2);
    const std::uint8_t* const packed = block + 4;
    for (std::size_t b = 0; b < 8; b += 2) {
      const auto scale_low = hn::Set(d, scale_unit * scale_of(packed, b));
      const auto scale_high = hn::Set(d, scale_unit * scale_of(packed, b + 1));
      const auto minimum_low = hn::Set(d, minimum_unit * minimum_of(packed, b));
      const auto minimum_high = hn::Set(d, minimum_unit * minimum_of(packed, b + 1));
      for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
        const auto both = bytes_at(d, block + 16 + b * 16 + i);
        const auto low = to_lanes(d, hn::And(both, hn::Set(du, 15u))), high = to_lanes(d, hn::ShiftRight<4>(both));
        // A product and a difference, each rounded: scale x q has at most 11 + 6 + 4 bits and is exact anyway.
        emit(b * 32 + i, hn::MulSub(scale_low, low, minimum_low));
        emit(b * 32 + 32 + i, hn::MulSub(scale_high, high, minimum_high));
      }
    }
  }

 private:
  static HWY_INLINE float scale_of(const std::uint8_t* packed, std::size_t b) {
    const unsigned six = b < 4 ? packed[b] & 63u : (packed[b + 4] & 15u) | (packed[b - 4] >> 6 << 4);
    return static_cast<float>(six);
  }
  static HWY_INLINE float minimum_of(const std::uint8_t* packed, std::size_t b) {
    const unsigned six = b < 4 ? packed[b + 4] & 63u : (packed[b + 4] >> 4 & 15u) | (packed[b] >> 6 << 4);
    return static_cast<float>(six);
  }
};

struct BlockQ6_K {
  static constexpr std::size_t elements = 256, bytes = 210;
  template <class Emit>
  static HWY_INLINE void decode(Lanes d, const std::uint8_t* block, const Emit& emit) {
    const float unit = half_at(block + 208);
    for (std::size_t half = 0; half < 2; ++half) {
      const std::uint8_t* const low = block + half * 64;
      const std::uint8_t* const high = block + 128 + half * 32;
      const std::uint8_t* const scales = block + 192 + half * 8;
      for (std::size_t i = 0; i < 32; i += hn::Lanes(d)) {
        const auto top = bytes_at(d, high + i), even = bytes_at(d, low + i), odd = bytes_at(d, low + 32 + i);
        const std::size_t at = half * 128 + i, group = i / 16;
        emit(at, quarter<0>(d, even, top, unit, scales[group]));
        emit(at + 32, quarter<1>(d, odd, top, unit, scales[2 + group]));
        emit(at + 64, quarter<2>(d, even, top, unit, scales[4 + group]));
        emit(at + 96, quarter<3>(d, odd, top, unit, scales[6 + group]));
      }
    }
  }

 private:
  template <int r, class VU>
  static HWY_INLINE hn::Vec<Lanes> quarter(Lanes d, VU low, VU high, float unit, std::uint8_t scale) {
    const hn::RebindToUnsigned<Lanes> du;
    const auto four = r < 2 ? hn::And(low, hn::Set(du, 15u)) : hn::ShiftRight<4>(low);
    const auto two = hn::And(hn::ShiftLeft<4>(hn::ShiftRight<2 * r>(high)), hn::Set(du, 48u));
    const auto scaled = hn::Set(d, unit * static_cast<float>(static_cast<std::int8_t>(scale)));
    return hn::Mul(scaled, hn::Sub(to_lanes(d, hn::Or(four, two)), hn::Set(d, 32.0f)));
  }
};

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
