// SPDX-License-Identifier: Apache-2.0
// Loads the pairs (x, y) of a head into float32 vectors and stores them back, for one SIMD target. In scalar form:
//   half:         x = head[i], y = head[i + pairs]      interleaved:  x = head[2 i], y = head[2 i + 1]
//
// A layout has: Element; Head, the addresses of a head's pairs; interleaved; vectors, the number of vectors of pairs
// per step; held, how many vectors of cos and sin may stay in registers; load and store, from pair i on; and, if
// `reorders`, the order in which load returns the pairs, so that cos and sin can be permuted alike.

#if defined(LOCUS_KERNELS_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_PAIRS_INL_H_
#undef LOCUS_KERNELS_PAIRS_INL_H_
#else
#define LOCUS_KERNELS_PAIRS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using FloatVec = hn::Vec<Floats>;

// ---- half

template <class T>
struct TwoHalves {
  TwoHalves(T* head, std::size_t pairs) : x(head), y(head + pairs) {}
  void advance(std::ptrdiff_t by) {
    x += by;
    y += by;
  }
  T* x;
  T* y;
};

template <class T>
struct OneRun {
  OneRun(T* head, std::size_t) : xy(head) {}
  void advance(std::ptrdiff_t by) { xy += by; }
  T* xy;
};

// The constants of every layout.
template <class T, class HeadOfT, int kVectors, int kHeld, bool kReorders>
struct PairsLayout {
  using Element = T;
  using Head = HeadOfT;
  static constexpr bool interleaved = std::is_same_v<HeadOfT, OneRun<T>>;
  static constexpr bool reorders = kReorders;
  static constexpr int vectors = kVectors;
  static constexpr int held = kHeld;
  static std::size_t per_step() { return kVectors * hn::Lanes(Floats()); }
};

template <class T>
struct HalfPairs : PairsLayout<T, TwoHalves<T>, 1, 5, false> {
  using Head = TwoHalves<T>;

  static HWY_INLINE void load(const Head& head, std::size_t i, FloatVec& x, FloatVec& y) {
    x = loaded_once(locus::HWY_NAMESPACE::load(Floats(), head.x + i));
    y = loaded_once(locus::HWY_NAMESPACE::load(Floats(), head.y + i));
  }
  static HWY_INLINE void store(const Head& head, std::size_t i, FloatVec x, FloatVec y) {
    locus::HWY_NAMESPACE::store(Floats(), x, head.x + i);
    locus::HWY_NAMESPACE::store(Floats(), y, head.y + i);
  }
};

// ---- interleaved

template <class T>
struct InterleavedPairs;

template <>
struct InterleavedPairs<float> : PairsLayout<float, OneRun<float>, 1, 6, HWY_TARGET == HWY_AVX2> {
#if HWY_TARGET == HWY_AVX2
  // Shuffles across the two blocks of a vector are slow: pairs 2, 3 and 4, 5 are swapped instead.
  static HWY_INLINE void load(const Head& head, std::size_t i, FloatVec& x, FloatVec& y) {
    const FloatVec low = loaded_once(hn::LoadU(Floats(), head.xy + 2 * i));
    const FloatVec high = loaded_once(hn::LoadU(Floats(), head.xy + 2 * i + 8));
    x = FloatVec{_mm256_shuffle_ps(low.raw, high.raw, 0x88)};
    y = FloatVec{_mm256_shuffle_ps(low.raw, high.raw, 0xdd)};
  }
  static HWY_INLINE void store(const Head& head, std::size_t i, FloatVec x, FloatVec y) {
    hn::StoreU(hn::InterleaveLower(Floats(), x, y), Floats(), head.xy + 2 * i);
    hn::StoreU(hn::InterleaveUpper(Floats(), x, y), Floats(), head.xy + 2 * i + 8);
  }
  static HWY_INLINE void reorder(const float* row, std::size_t pairs, float* out) {
    for (std::size_t i = 0; i < pairs; i += 8) {
      _mm256_storeu_pd(reinterpret_cast<double*>(out + i),
                       _mm256_permute4x64_pd(_mm256_loadu_pd(reinterpret_cast<const double*>(row + i)), 0xd8));
    }
  }
#else
  static HWY_INLINE void load(const Head& head, std::size_t i, FloatVec& x, FloatVec& y) {
    hn::LoadInterleaved2(Floats(), head.xy + 2 * i, x, y);
  }
  static HWY_INLINE void store(const Head& head, std::size_t i, FloatVec x, FloatVec y) {
    hn::StoreInterleaved2(x, y, Floats(), head.xy + 2 * i);
  }
#endif
};

template <>
struct InterleavedPairs<Float16> : PairsLayout<Float16, OneRun<Float16>, 1, 4, false> {
  static HWY_INLINE void load(const Head& head, std::size_t i, FloatVec& x, FloatVec& y) {
    VecBits16<Floats> evens, odds;
    hn::LoadInterleaved2(Bits16<Floats>(), reinterpret_cast<const std::uint16_t*>(head.xy + 2 * i), evens, odds);
    x = widen(Floats(), evens, Float16());
    y = widen(Floats(), odds, Float16());
  }
  static HWY_INLINE void store(const Head& head, std::size_t i, FloatVec x, FloatVec y) {
    hn::StoreInterleaved2(narrow(Floats(), x, Float16()), narrow(Floats(), y, Float16()), Bits16<Floats>(),
                          reinterpret_cast<std::uint16_t*>(head.xy + 2 * i));
  }
};

// ---- bfloat16
//
// A 32-bit lane holds two neighbours: the upper half, with the lower bits cleared, is the odd one as a float32; the
// lower half, shifted up, is the even one. So nothing moves between lanes in either direction.

#if HWY_TARGET != HWY_SCALAR

HWY_INLINE void load_neighbours(const BFloat16* from, FloatVec& even, FloatVec& odd) {
  const hn::RebindToUnsigned<Floats> du;
  const auto both = loaded_once(hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(from)));
  even = hn::BitCast(Floats(), hn::ShiftLeft<16>(both));
  odd = hn::BitCast(Floats(), hn::And(both, hn::Set(du, 0xffff0000u)));
}

// Rounds to nearest even in 16-bit lanes, twice as many at a time: (cut + 0x7fff + odd) carries into `kept` if half
// of it has its top bit set; a rounding average computes that half without overflow. A NaN needs no special case: a
// NaN from rotating bfloat16 values has zeros in `cut`, because it is one of the inputs made quiet or the machine's
// default NaN.
HWY_INLINE void store_neighbours(FloatVec even, FloatVec odd, BFloat16* to) {
  const hn::RebindToUnsigned<Floats> du;
  const hn::Repartition<std::uint16_t, Floats> d16;
  const auto low = hn::BitCast(du, even);
  const auto high = hn::BitCast(du, odd);
  const auto kept = hn::OddEven(hn::BitCast(d16, high), hn::BitCast(d16, hn::ShiftRight<16>(low)));
  const auto cut = hn::OddEven(hn::BitCast(d16, hn::ShiftLeft<16>(high)), hn::BitCast(d16, low));
  const auto addend = hn::Add(hn::And(kept, hn::Set(d16, 1)), hn::Set(d16, 0x7ffe));
  const auto carry = hn::ShiftRight<15>(hn::AverageRound(cut, addend));
  hn::StoreU(hn::Add(kept, carry), d16, reinterpret_cast<std::uint16_t*>(to));
}

template <>
struct HalfPairs<BFloat16>
    : PairsLayout<BFloat16, TwoHalves<BFloat16>, 2, 0, true> {  // holds none: rounding needs the registers
  static HWY_INLINE void load(const Head& head, std::size_t i, FloatVec& x0, FloatVec& x1, FloatVec& y0, FloatVec& y1) {
    load_neighbours(head.x + i, x0, x1);
    load_neighbours(head.y + i, y0, y1);
  }
  static HWY_INLINE void store(const Head& head, std::size_t i, FloatVec x0, FloatVec x1, FloatVec y0, FloatVec y1) {
    store_neighbours(x0, x1, head.x + i);
    store_neighbours(y0, y1, head.y + i);
  }
  static HWY_INLINE void reorder(const float* row, std::size_t pairs, float* out) {
    for (std::size_t i = 0; i < pairs; i += per_step()) {
      FloatVec even, odd;
      hn::LoadInterleaved2(Floats(), row + i, even, odd);
      hn::StoreU(even, Floats(), out + i);
      hn::StoreU(odd, Floats(), out + i + hn::Lanes(Floats()));
    }
  }
};

template <>
struct InterleavedPairs<BFloat16> : PairsLayout<BFloat16, OneRun<BFloat16>, 1, 4, false> {
  static HWY_INLINE void load(const Head& head, std::size_t i, FloatVec& x, FloatVec& y) {
    load_neighbours(head.xy + 2 * i, x, y);
  }
  static HWY_INLINE void store(const Head& head, std::size_t i, FloatVec x, FloatVec y) {
    store_neighbours(x, y, head.xy + 2 * i);
  }
};

#else  // vectors of one lane have no neighbours

template <>
struct InterleavedPairs<BFloat16> : PairsLayout<BFloat16, OneRun<BFloat16>, 1, 0, false> {
  static HWY_INLINE void load(const Head& head, std::size_t i, FloatVec& x, FloatVec& y) {
    x = locus::HWY_NAMESPACE::load(Floats(), head.xy + 2 * i);
    y = locus::HWY_NAMESPACE::load(Floats(), head.xy + 2 * i + 1);
  }
  static HWY_INLINE void store(const Head& head, std::size_t i, FloatVec x, FloatVec y) {
    locus::HWY_NAMESPACE::store(Floats(), x, head.xy + 2 * i);
    locus::HWY_NAMESPACE::store(Floats(), y, head.xy + 2 * i + 1);
  }
};

#endif

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
