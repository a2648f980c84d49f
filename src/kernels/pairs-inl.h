// SPDX-License-Identifier: Apache-2.0
// Turns the pairs (x, y) of a head, one step of float32 vectors at a time, for one SIMD target. In scalar form:
//   half:         x = head[i], y = head[i + pairs]      interleaved:  x = head[2 i], y = head[2 i + 1]
//
// A layout has: Element; Head, the addresses of a head's pairs; interleaved; row_floats, how many cosines a pair has in a
// prepared row, and as many sines; vectors, the number of vectors of cosines per step; held, how many of them may stay
// in registers, with their sines; turn, which rotates one step from entry i of the prepared row on; and, if `prepares`,
// prepare, which makes a row of cosines and one of sines in the order in which turn uses them.

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

// A vector of cosines and one of sines.
template <class V>
struct CosSin {
  V cos, sin;
};

template <class V>
HWY_INLINE V turned_x(V x, V y, CosSin<V> by) {
  return hn::NegMulAdd(y, by.sin, hn::Mul(x, by.cos));
}
template <class V>
HWY_INLINE V turned_y(V x, V y, CosSin<V> by) {
  return hn::MulAdd(x, by.sin, hn::Mul(y, by.cos));
}

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

// Targets of 512 bits have 32 registers, the narrower ones of x86 only 16.
constexpr bool many_registers = HWY_MAX_BYTES >= 64;

// The constants of every layout. kHeld: on targets with 16 registers.
template <class D, class T, class HeadOfT, int kVectors, int kHeld>
struct PairsLayout {
  using Tag = D;
  using Vec = hn::Vec<D>;
  using By = CosSin<Vec>;
  using Element = T;
  using Head = HeadOfT;
  static constexpr bool interleaved = std::is_same_v<HeadOfT, OneRun<T>>;
  static constexpr bool prepares = false;
  static constexpr std::size_t row_floats = 1;
  static constexpr int vectors = kVectors;
  static constexpr int held = many_registers ? 8 : kHeld;
};

// ---- float32 and float16, half

template <class D, class T>
struct HalfPairs : PairsLayout<D, T, TwoHalves<T>, 1, 5> {
  using Base = PairsLayout<D, T, TwoHalves<T>, 1, 5>;

  static HWY_INLINE void turn(const TwoHalves<T>& in, const TwoHalves<T>& out, std::size_t i, typename Base::By by) {
    const D d;
    const auto x = loaded_once(load(d, in.x + i));
    const auto y = loaded_once(load(d, in.y + i));
    store(d, turned_x(x, y, by), out.x + i);
    store(d, turned_y(x, y, by), out.y + i);
  }
};

// ---- float32, interleaved

template <class D, class T>
struct InterleavedPairs;

#if HWY_TARGET == HWY_AVX2

template <class D>
struct InterleavedPairs<D, float> : PairsLayout<D, float, OneRun<float>, 1, 6> {
  using Base = PairsLayout<D, float, OneRun<float>, 1, 6>;
  // Shuffles across the two blocks of a vector are slow: pairs 2, 3 and 4, 5 are swapped instead.
  static constexpr bool prepares = hn::MaxLanes(D()) == 8;

  static HWY_INLINE void turn(const OneRun<float>& in, const OneRun<float>& out, std::size_t i, typename Base::By by) {
    const D d;
    typename Base::Vec x, y;
    if constexpr (prepares) {
      const auto low = loaded_once(hn::LoadU(d, in.xy + 2 * i));
      const auto high = loaded_once(hn::LoadU(d, in.xy + 2 * i + 8));
      x = typename Base::Vec{_mm256_shuffle_ps(low.raw, high.raw, 0x88)};
      y = typename Base::Vec{_mm256_shuffle_ps(low.raw, high.raw, 0xdd)};
    } else {
      hn::LoadInterleaved2(d, in.xy + 2 * i, x, y);
    }
    const auto new_x = turned_x(x, y, by);
    const auto new_y = turned_y(x, y, by);
    if constexpr (prepares) {
      hn::StoreU(hn::InterleaveLower(d, new_x, new_y), d, out.xy + 2 * i);
      hn::StoreU(hn::InterleaveUpper(d, new_x, new_y), d, out.xy + 2 * i + 8);
    } else {
      hn::StoreInterleaved2(new_x, new_y, d, out.xy + 2 * i);
    }
  }
  static HWY_INLINE void reorder(const float* row, std::size_t pairs, float* out) {
    for (std::size_t i = 0; i < pairs; i += 8) {
      _mm256_storeu_pd(reinterpret_cast<double*>(out + i),
                       _mm256_permute4x64_pd(_mm256_loadu_pd(reinterpret_cast<const double*>(row + i)), 0xd8));
    }
  }
  static HWY_INLINE void prepare(const float* cos, const float* sin, std::size_t pairs, float* new_cos,
                                 float* new_sin) {
    reorder(cos, pairs, new_cos);
    reorder(sin, pairs, new_sin);
  }
};

#elif HWY_TARGET == HWY_SCALAR

template <class D>
struct InterleavedPairs<D, float> : PairsLayout<D, float, OneRun<float>, 1, 0> {
  static HWY_INLINE void turn(const OneRun<float>& in, const OneRun<float>& out, std::size_t i, CosSin<hn::Vec<D>> by) {
    const D d;
    const auto x = load(d, in.xy + 2 * i);
    const auto y = load(d, in.xy + 2 * i + 1);
    store(d, turned_x(x, y, by), out.xy + 2 * i);
    store(d, turned_y(x, y, by), out.xy + 2 * i + 1);
  }
};

#else

// Neighbours swap places within a vector. The prepared row has each cosine twice, and each sine twice, first negated:
// x' = x cos + y (-sin) and y' = y cos + x sin are then the same operations in every lane.
template <class D>
struct InterleavedPairs<D, float> : PairsLayout<D, float, OneRun<float>, 1, 6> {
  using Base = PairsLayout<D, float, OneRun<float>, 1, 6>;
  static constexpr bool prepares = true;
  static constexpr std::size_t row_floats = 2;

  static HWY_INLINE void turn(const OneRun<float>& in, const OneRun<float>& out, std::size_t i, typename Base::By by) {
    const D d;
    const auto pairs = loaded_once(hn::LoadU(d, in.xy + i));
    const auto swapped = hn::Shuffle2301(pairs);
    hn::StoreU(hn::MulAdd(swapped, by.sin, hn::Mul(pairs, by.cos)), d, out.xy + i);
  }
  static HWY_INLINE void prepare(const float* cos, const float* sin, std::size_t pairs, float* new_cos,
                                 float* new_sin) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + lanes <= pairs; i += lanes) {
      const auto c = hn::LoadU(d, cos + i), s = hn::LoadU(d, sin + i);
      hn::StoreInterleaved2(c, c, d, new_cos + 2 * i);
      hn::StoreInterleaved2(hn::Neg(s), s, d, new_sin + 2 * i);
    }
    for (; i < pairs; ++i) {
      new_cos[2 * i] = new_cos[2 * i + 1] = cos[i];
      new_sin[2 * i] = -sin[i];
      new_sin[2 * i + 1] = sin[i];
    }
  }
};

#endif

// ---- float16, interleaved

template <class D>
struct InterleavedPairs<D, Float16> : PairsLayout<D, Float16, OneRun<Float16>, 1, 4> {
  static HWY_INLINE void turn(const OneRun<Float16>& in, const OneRun<Float16>& out, std::size_t i,
                              CosSin<hn::Vec<D>> by) {
    const D d;
    const Bits16<D> d16;
    VecBits16<D> evens, odds;
    hn::LoadInterleaved2(d16, reinterpret_cast<const std::uint16_t*>(in.xy + 2 * i), evens, odds);
    const auto x = widen(d, evens, Float16());
    const auto y = widen(d, odds, Float16());
    hn::StoreInterleaved2(narrow(d, turned_x(x, y, by), Float16()), narrow(d, turned_y(x, y, by), Float16()), d16,
                          reinterpret_cast<std::uint16_t*>(out.xy + 2 * i));
  }
};

// ---- bfloat16
//
// A 32-bit lane holds two neighbours: the upper half, with the lower bits cleared, is the odd one as a float32; the
// lower half, shifted up, is the even one. So nothing moves between lanes in either direction.

#if HWY_TARGET != HWY_SCALAR

template <class D>
HWY_INLINE void load_neighbours(D d, const BFloat16* from, hn::Vec<D>& even, hn::Vec<D>& odd) {
  const hn::RebindToUnsigned<D> du;
  const auto both = loaded_once(hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(from)));
  even = hn::BitCast(d, hn::ShiftLeft<16>(both));
  odd = hn::BitCast(d, hn::And(both, hn::Set(du, 0xffff0000u)));
}

// Rounds to bfloat16, to the upper half of each lane. Adding half of its last place rounds to nearest, and a tie up. A
// tie leaves zeros in the lower half; only then is the last place cleared, which makes the result even. Ties are rare,
// so all vectors of a step share one test. A NaN needs no special case: a NaN from rotating bfloat16 values has zeros
// in its lower half, because it is one of the inputs made quiet or the machine's default NaN.
template <class D, class V>
HWY_INLINE V rounded_up(D d, V value) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::Add(hn::BitCast(du, value), hn::Set(du, 0x8000u)));
}
template <class D, class V>
HWY_INLINE V made_even(D d, V value) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, value);
  const auto tie = hn::Eq(hn::And(bits, hn::Set(du, 0xffffu)), hn::Zero(du));
  return hn::BitCast(d, hn::IfThenElse(tie, hn::And(bits, hn::Set(du, 0xfffeffffu)), bits));
}
// The lesser of each lower half, and of each upper half, which does not matter.
template <class D, class V>
HWY_INLINE V lesser_halves(D d, V a, V b) {
  const hn::Repartition<std::uint16_t, D> d16;
  return hn::BitCast(d, hn::Min(hn::BitCast(d16, a), hn::BitCast(d16, b)));
}
template <class D, class V>
HWY_INLINE bool has_tie(D, V least_halves) {
  const hn::RebindToUnsigned<D> du;
  const auto lower = hn::And(hn::BitCast(du, least_halves), hn::Set(du, 0xffffu));
  return !hn::AllFalse(du, hn::Eq(lower, hn::Zero(du)));
}
template <class D, class V>
HWY_INLINE void round_both(D d, V& a, V& b) {
  a = rounded_up(d, a);
  b = rounded_up(d, b);
  if (HWY_UNLIKELY(has_tie(d, lesser_halves(d, a, b)))) {
    a = made_even(d, a);
    b = made_even(d, b);
  }
}
template <class D, class V>
HWY_INLINE void round_all(D d, V& a, V& b, V& c, V& e) {
  a = rounded_up(d, a);
  b = rounded_up(d, b);
  c = rounded_up(d, c);
  e = rounded_up(d, e);
  if (HWY_UNLIKELY(has_tie(d, lesser_halves(d, lesser_halves(d, a, b), lesser_halves(d, c, e))))) {
    a = made_even(d, a);
    b = made_even(d, b);
    c = made_even(d, c);
    e = made_even(d, e);
  }
}

// The upper halves of both.
template <class D, class V>
HWY_INLINE void store_neighbours(D, V even, V odd, BFloat16* to) {
  const hn::RebindToUnsigned<D> du;
  const hn::Repartition<std::uint16_t, D> d16;
  const auto low = hn::BitCast(d16, hn::ShiftRight<16>(hn::BitCast(du, even)));
  hn::StoreU(hn::OddEven(hn::BitCast(d16, odd), low), d16, reinterpret_cast<std::uint16_t*>(to));
}

template <class D>
struct HalfPairs<D, BFloat16>
    : PairsLayout<D, BFloat16, TwoHalves<BFloat16>, 2, 0> {  // holds none: rounding needs the registers
  using Base = PairsLayout<D, BFloat16, TwoHalves<BFloat16>, 2, 0>;
  static constexpr bool prepares = true;

  static HWY_INLINE void turn(const TwoHalves<BFloat16>& in, const TwoHalves<BFloat16>& out, std::size_t i,
                              typename Base::By even, typename Base::By odd) {
    const D d;
    typename Base::Vec x0, x1, y0, y1;
    load_neighbours(d, in.x + i, x0, x1);
    load_neighbours(d, in.y + i, y0, y1);
    auto new_x0 = turned_x(x0, y0, even), new_x1 = turned_x(x1, y1, odd);
    auto new_y0 = turned_y(x0, y0, even), new_y1 = turned_y(x1, y1, odd);
    round_all(d, new_x0, new_x1, new_y0, new_y1);
    store_neighbours(d, new_x0, new_x1, out.x + i);
    store_neighbours(d, new_y0, new_y1, out.y + i);
  }
  static HWY_INLINE void reorder(const float* row, std::size_t pairs, float* out) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t i = 0; i < pairs; i += 2 * lanes) {
      typename Base::Vec even, odd;
      hn::LoadInterleaved2(d, row + i, even, odd);
      hn::StoreU(even, d, out + i);
      hn::StoreU(odd, d, out + i + lanes);
    }
  }
  static HWY_INLINE void prepare(const float* cos, const float* sin, std::size_t pairs, float* new_cos,
                                 float* new_sin) {
    reorder(cos, pairs, new_cos);
    reorder(sin, pairs, new_sin);
  }
};

template <class D>
struct InterleavedPairs<D, BFloat16> : PairsLayout<D, BFloat16, OneRun<BFloat16>, 1, 4> {
  static HWY_INLINE void turn(const OneRun<BFloat16>& in, const OneRun<BFloat16>& out, std::size_t i,
                              CosSin<hn::Vec<D>> by) {
    const D d;
    hn::Vec<D> x, y;
    load_neighbours(d, in.xy + 2 * i, x, y);
    auto new_x = turned_x(x, y, by), new_y = turned_y(x, y, by);
    round_both(d, new_x, new_y);
    store_neighbours(d, new_x, new_y, out.xy + 2 * i);
  }
};

#else  // vectors of one lane have no neighbours

template <class D>
struct InterleavedPairs<D, BFloat16> : PairsLayout<D, BFloat16, OneRun<BFloat16>, 1, 0> {
  static HWY_INLINE void turn(const OneRun<BFloat16>& in, const OneRun<BFloat16>& out, std::size_t i,
                              CosSin<hn::Vec<D>> by) {
    const D d;
    const auto x = load(d, in.xy + 2 * i);
    const auto y = load(d, in.xy + 2 * i + 1);
    store(d, turned_x(x, y, by), out.xy + 2 * i);
    store(d, turned_y(x, y, by), out.xy + 2 * i + 1);
  }
};

#endif

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
