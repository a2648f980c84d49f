// SPDX-License-Identifier: Apache-2.0
// The rotation of one token's heads, for one SIMD target. Included once per target by rotate_simd.cpp.
//
//   half:         [x0 x1 x2 x3 | y0 y1 y2 y3]     interleaved: [x0 y0 x1 y1 x2 y2 x3 y3]
//
//   x' = x cos - y sin,  y' = y cos + x sin       (inverse: sin negated)
//
// Every element type is widened to float32, turned, and rounded once: to nearest even. x' and y' are each one product
// and one fused multiply-add, in this order, whatever the layout and wherever the pair stands in a vector.

#if defined(LOCUS_KERNELS_ROTATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ROTATE_INL_H_
#undef LOCUS_KERNELS_ROTATE_INL_H_
#else
#define LOCUS_KERNELS_ROTATE_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/rotate_simd.h"
#include "kernels/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Turns x and y; loads come before stores, so that in-place is safe.
template <bool kInverse, class V>
HWY_INLINE void turn(V& x, V& y, V cos, V sin) {
  const V x_cos = hn::Mul(x, cos);
  const V y_cos = hn::Mul(y, cos);
  const V turned_x = kInverse ? hn::MulAdd(y, sin, x_cos) : hn::NegMulAdd(y, sin, x_cos);
  const V turned_y = kInverse ? hn::NegMulAdd(x, sin, y_cos) : hn::MulAdd(x, sin, y_cos);
  x = turned_x;
  y = turned_y;
}

// One pair of one head, for tails and for layouts that change on the way.
template <bool kInverse, class T>
HWY_INLINE void turn_one_pair(const T* in, T* out, std::size_t in_x, std::size_t in_y, std::size_t out_x,
                              std::size_t out_y, float cos, float sin) {
  const hn::CappedTag<float, 1> d;
  auto x = load(d, in + in_x);
  auto y = load(d, in + in_y);
  turn<kInverse>(x, y, hn::Set(d, cos), hn::Set(d, sin));
  store(d, x, out + out_x);
  store(d, y, out + out_y);
}

template <bool kInverse, class T>
void rotate_any_layout(const RotateToken& token, bool interleaved_in, bool interleaved_out, std::size_t first_pair) {
  const T* in = static_cast<const T*>(token.in);
  T* out = static_cast<T*>(token.out);
  for (std::size_t h = 0; h < token.heads; ++h, in += token.in_head_stride, out += token.out_head_stride) {
    for (std::size_t i = first_pair; i < token.pairs; ++i) {
      turn_one_pair<kInverse>(in, out, interleaved_in ? 2 * i : i, interleaved_in ? 2 * i + 1 : token.pairs + i,
                              interleaved_out ? 2 * i : i, interleaved_out ? 2 * i + 1 : token.pairs + i, token.cos[i],
                              token.sin[i]);
    }
  }
}

// ---- half ----

template <bool kInverse, class D, class T>
HWY_INLINE void turn_halves(D d, const T* in, T* out, std::size_t pairs, hn::Vec<D> cos, hn::Vec<D> sin) {
  auto x = load(d, in);
  auto y = load(d, in + pairs);
  turn<kInverse>(x, y, cos, sin);
  store(d, x, out);
  store(d, y, out + pairs);
}

template <bool kInverse, class T>
void rotate_half(const RotateToken& given) {
  const RotateToken token = given;  // a local copy: stores through out cannot change it
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t vectors = token.pairs / lanes;
  // Four vectors of cos and sin stay in registers for a few heads: fewer loads, and memory is still walked in order.
  for (std::size_t first = 0; first < token.heads; first += token.heads_at_once) {
    const std::size_t end = HWY_MIN(first + token.heads_at_once, token.heads);
    std::size_t v = 0;
    for (; v + 4 <= vectors; v += 4) {
      const std::size_t i = v * lanes;
      const auto c0 = hn::LoadU(d, token.cos + i), c1 = hn::LoadU(d, token.cos + i + lanes);
      const auto c2 = hn::LoadU(d, token.cos + i + 2 * lanes), c3 = hn::LoadU(d, token.cos + i + 3 * lanes);
      const auto s0 = hn::LoadU(d, token.sin + i), s1 = hn::LoadU(d, token.sin + i + lanes);
      const auto s2 = hn::LoadU(d, token.sin + i + 2 * lanes), s3 = hn::LoadU(d, token.sin + i + 3 * lanes);
      for (std::size_t h = first; h < end; ++h) {
        const T* in = static_cast<const T*>(token.in) + static_cast<std::ptrdiff_t>(h) * token.in_head_stride + i;
        T* out = static_cast<T*>(token.out) + static_cast<std::ptrdiff_t>(h) * token.out_head_stride + i;
        turn_halves<kInverse>(d, in, out, token.pairs, c0, s0);
        turn_halves<kInverse>(d, in + lanes, out + lanes, token.pairs, c1, s1);
        turn_halves<kInverse>(d, in + 2 * lanes, out + 2 * lanes, token.pairs, c2, s2);
        turn_halves<kInverse>(d, in + 3 * lanes, out + 3 * lanes, token.pairs, c3, s3);
      }
    }
    for (; v < vectors; ++v) {
      const std::size_t i = v * lanes;
      const auto cos = hn::LoadU(d, token.cos + i);
      const auto sin = hn::LoadU(d, token.sin + i);
      for (std::size_t h = first; h < end; ++h) {
        const T* in = static_cast<const T*>(token.in) + static_cast<std::ptrdiff_t>(h) * token.in_head_stride + i;
        T* out = static_cast<T*>(token.out) + static_cast<std::ptrdiff_t>(h) * token.out_head_stride + i;
        turn_halves<kInverse>(d, in, out, token.pairs, cos, sin);
      }
    }
  }
  rotate_any_layout<kInverse, T>(token, false, false, vectors * lanes);
}

// ---- interleaved ----

#if HWY_TARGET == HWY_SCALAR  // no neighbours in a vector of one

template <bool kInverse, class T>
void rotate_interleaved(const RotateToken& token) {
  rotate_any_layout<kInverse, T>(token, true, true, 0);
}

#else

// Spreads a row to one entry per coordinate, cos cos .. and -sin sin .., once per token: then a vector of neighbours
// needs one swap, one product and one fused multiply-add.
template <bool kInverse>
void spread_row(const RotateToken& token) {
  float* cos = token.spread;
  float* sin = token.spread + 2 * token.pairs;
  for (std::size_t i = 0; i < token.pairs; ++i) {
    cos[2 * i] = cos[2 * i + 1] = token.cos[i];
    sin[2 * i] = kInverse ? token.sin[i] : -token.sin[i];
    sin[2 * i + 1] = -sin[2 * i];
  }
}

template <class D, class T>
HWY_INLINE void turn_neighbours(D d, const T* in, T* out, hn::Vec<D> cos, hn::Vec<D> sin) {
  const auto xy = load(d, in);
  store(d, hn::MulAdd(hn::Shuffle2301(xy), sin, hn::Mul(xy, cos)), out);
}

template <bool kInverse, class T>
void rotate_interleaved(const RotateToken& given) {
  const RotateToken token = given;  // a local copy: stores through out cannot change it
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t vectors = 2 * token.pairs / lanes;
  spread_row<kInverse>(token);
  const float* cos = token.spread;
  const float* sin = token.spread + 2 * token.pairs;
  for (std::size_t first = 0; first < token.heads; first += token.heads_at_once) {
    const std::size_t end = HWY_MIN(first + token.heads_at_once, token.heads);
    std::size_t v = 0;
    for (; v + 4 <= vectors; v += 4) {
      const std::size_t i = v * lanes;
      const auto c0 = hn::LoadU(d, cos + i), c1 = hn::LoadU(d, cos + i + lanes);
      const auto c2 = hn::LoadU(d, cos + i + 2 * lanes), c3 = hn::LoadU(d, cos + i + 3 * lanes);
      const auto s0 = hn::LoadU(d, sin + i), s1 = hn::LoadU(d, sin + i + lanes);
      const auto s2 = hn::LoadU(d, sin + i + 2 * lanes), s3 = hn::LoadU(d, sin + i + 3 * lanes);
      for (std::size_t h = first; h < end; ++h) {
        const T* in = static_cast<const T*>(token.in) + static_cast<std::ptrdiff_t>(h) * token.in_head_stride + i;
        T* out = static_cast<T*>(token.out) + static_cast<std::ptrdiff_t>(h) * token.out_head_stride + i;
        turn_neighbours(d, in, out, c0, s0);
        turn_neighbours(d, in + lanes, out + lanes, c1, s1);
        turn_neighbours(d, in + 2 * lanes, out + 2 * lanes, c2, s2);
        turn_neighbours(d, in + 3 * lanes, out + 3 * lanes, c3, s3);
      }
    }
    for (; v < vectors; ++v) {
      const std::size_t i = v * lanes;
      const auto c = hn::LoadU(d, cos + i);
      const auto s = hn::LoadU(d, sin + i);
      for (std::size_t h = first; h < end; ++h) {
        const T* in = static_cast<const T*>(token.in) + static_cast<std::ptrdiff_t>(h) * token.in_head_stride + i;
        T* out = static_cast<T*>(token.out) + static_cast<std::ptrdiff_t>(h) * token.out_head_stride + i;
        turn_neighbours(d, in, out, c, s);
      }
    }
  }
  rotate_any_layout<kInverse, T>(token, true, true, vectors * lanes / 2);
}

#endif

// ---- bfloat16 ----
//
// A 32-bit lane holds two neighbours: the upper half is the odd one as a float32 already (once its lower bits are
// cleared), the lower half the even one (once shifted up). So nothing has to move between lanes in either direction.

#if HWY_TARGET == HWY_SCALAR

template <bool kInverse>
void rotate_half_bfloat16(const RotateToken& token) {
  rotate_any_layout<kInverse, BFloat16>(token, false, false, 0);
}
template <bool kInverse>
void rotate_interleaved_bfloat16(const RotateToken& token) {
  rotate_any_layout<kInverse, BFloat16>(token, true, true, 0);
}

#else

template <class D>
HWY_INLINE void load_neighbours(D d, const BFloat16* from, hn::Vec<D>& even, hn::Vec<D>& odd) {
  const hn::RebindToUnsigned<D> du;
  const auto both = hn::LoadU(du, reinterpret_cast<const std::uint32_t*>(from));
  even = hn::BitCast(d, hn::ShiftLeft<16>(both));
  odd = hn::BitCast(d, hn::And(both, hn::Set(du, 0xffff0000u)));
}

template <class D>
HWY_INLINE void store_neighbours(D d, hn::Vec<D> even, hn::Vec<D> odd, BFloat16* to) {
  const hn::RebindToUnsigned<D> du;
  const auto upper = hn::And(round_to_bfloat16(d, odd), hn::Set(du, 0xffff0000u));
  const auto lower = hn::ShiftRight<16>(round_to_bfloat16(d, even));
  hn::StoreU(hn::Or(upper, lower), du, reinterpret_cast<std::uint32_t*>(to));
}

template <bool kInverse>
void rotate_half_bfloat16(const RotateToken& given) {
  const RotateToken token = given;
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t body = token.pairs / (2 * lanes) * (2 * lanes);
  // Evens and odds of cos and sin apart, as the coordinates will be: once per token.
  float* cos = token.spread;
  float* sin = token.spread + token.pairs;
  for (std::size_t i = 0; i < body; i += 2) {
    const std::size_t at = i / (2 * lanes) * (2 * lanes) + i % (2 * lanes) / 2;
    cos[at] = token.cos[i];
    cos[at + lanes] = token.cos[i + 1];
    sin[at] = token.sin[i];
    sin[at + lanes] = token.sin[i + 1];
  }
  for (std::size_t h = 0; h < token.heads; ++h) {
    const BFloat16* in = static_cast<const BFloat16*>(token.in) + static_cast<std::ptrdiff_t>(h) * token.in_head_stride;
    BFloat16* out = static_cast<BFloat16*>(token.out) + static_cast<std::ptrdiff_t>(h) * token.out_head_stride;
    for (std::size_t i = 0; i < body; i += 2 * lanes) {
      hn::Vec<decltype(d)> x0, x1, y0, y1;
      load_neighbours(d, in + i, x0, x1);
      load_neighbours(d, in + token.pairs + i, y0, y1);
      turn<kInverse>(x0, y0, hn::LoadU(d, cos + i), hn::LoadU(d, sin + i));
      turn<kInverse>(x1, y1, hn::LoadU(d, cos + i + lanes), hn::LoadU(d, sin + i + lanes));
      store_neighbours(d, x0, x1, out + i);
      store_neighbours(d, y0, y1, out + token.pairs + i);
    }
  }
  rotate_any_layout<kInverse, BFloat16>(token, false, false, body);
}

template <bool kInverse>
void rotate_interleaved_bfloat16(const RotateToken& given) {
  const RotateToken token = given;
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t body = token.pairs / lanes * lanes;
  for (std::size_t h = 0; h < token.heads; ++h) {
    const BFloat16* in = static_cast<const BFloat16*>(token.in) + static_cast<std::ptrdiff_t>(h) * token.in_head_stride;
    BFloat16* out = static_cast<BFloat16*>(token.out) + static_cast<std::ptrdiff_t>(h) * token.out_head_stride;
    for (std::size_t i = 0; i < body; i += lanes) {
      hn::Vec<decltype(d)> x, y;
      load_neighbours(d, in + 2 * i, x, y);
      turn<kInverse>(x, y, hn::LoadU(d, token.cos + i), hn::LoadU(d, token.sin + i));
      store_neighbours(d, x, y, out + 2 * i);
    }
  }
  rotate_any_layout<kInverse, BFloat16>(token, true, true, body);
}

#endif

template <bool kInverse, class T>
void rotate_to_half(const RotateToken& token) {
  rotate_any_layout<kInverse, T>(token, true, false, 0);
}
template <bool kInverse, class T>
void rotate_to_interleaved(const RotateToken& token) {
  rotate_any_layout<kInverse, T>(token, false, true, 0);
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
