// SPDX-License-Identifier: Apache-2.0
// The rotation of one token's heads, for one SIMD target. Included once per target by rotate_simd.cpp.
//
//   half:         [x0 x1 x2 x3 | y0 y1 y2 y3]     interleaved: [x0 y0 x1 y1 x2 y2 x3 y3]
//
//   x' = x cos - y sin,  y' = y cos + x sin       (inverse: sin negated)
//
// Every element type is widened to float32, turned, and rounded once: to nearest even. x' and y' are each one product
// and one fused multiply-add, in this order, whatever the layout and wherever the pair stands in a vector.
//
// There is one loop. How coordinates come into vectors and go back is a matter of pairs-inl.h, which may take a
// token's pairs in an order of its own, the same for the coordinates and for cos and sin.

#if defined(LOCUS_KERNELS_ROTATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ROTATE_INL_H_
#undef LOCUS_KERNELS_ROTATE_INL_H_
#else
#define LOCUS_KERNELS_ROTATE_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/pairs-inl.h"
#include "kernels/rotate_simd.h"
#include "kernels/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <bool kInverse, class V>
HWY_INLINE void turn(V& x, V& y, V cos, V sin) {
  const V x_cos = hn::Mul(x, cos);
  const V y_cos = hn::Mul(y, cos);
  const V turned_x = kInverse ? hn::MulAdd(y, sin, x_cos) : hn::NegMulAdd(y, sin, x_cos);
  const V turned_y = kInverse ? hn::NegMulAdd(x, sin, y_cos) : hn::MulAdd(x, sin, y_cos);
  x = turned_x;
  y = turned_y;
}

// One pair at a time, for tails and for layouts that change on the way.
template <bool kInverse, class T>
void rotate_any_layout(const RotateToken& token, bool interleaved_in, bool interleaved_out, std::size_t first_pair) {
  const hn::CappedTag<float, 1> d;
  const T* in = static_cast<const T*>(token.in);
  T* out = static_cast<T*>(token.out);
  for (std::size_t h = 0; h < token.heads; ++h, in += token.in_head_stride, out += token.out_head_stride) {
    for (std::size_t i = first_pair; i < token.pairs; ++i) {
      auto x = load(d, in + (interleaved_in ? 2 * i : i));
      auto y = load(d, in + (interleaved_in ? 2 * i + 1 : token.pairs + i));
      turn<kInverse>(x, y, hn::Set(d, token.cos[i]), hn::Set(d, token.sin[i]));
      store(d, x, out + (interleaved_out ? 2 * i : i));
      store(d, y, out + (interleaved_out ? 2 * i + 1 : token.pairs + i));
    }
  }
}

// One or two vectors of pairs, as many as the layout takes at a time, from pair i on.
template <bool kInverse, class Pairs, class V>
HWY_INLINE void turn_pairs(const typename Pairs::Element* in, typename Pairs::Element* out, std::size_t pairs,
                           std::size_t i, V cos, V sin) {
  V x, y;
  Pairs::load(in, pairs, i, x, y);
  turn<kInverse>(x, y, cos, sin);
  Pairs::store(out, pairs, i, x, y);
}
template <bool kInverse, class Pairs, class V>
HWY_INLINE void turn_pairs(const typename Pairs::Element* in, typename Pairs::Element* out, std::size_t pairs,
                           std::size_t i, V cos0, V sin0, V cos1, V sin1) {
  V x0, x1, y0, y1;
  Pairs::load(in, pairs, i, x0, x1, y0, y1);
  turn<kInverse>(x0, y0, cos0, sin0);
  turn<kInverse>(x1, y1, cos1, sin1);
  Pairs::store(out, pairs, i, x0, x1, y0, y1);
}

template <bool kInverse, class Pairs>
HWY_INLINE void turn_held(const typename Pairs::Element*, typename Pairs::Element*, std::size_t, std::size_t) {}
template <bool kInverse, class Pairs, class V, class... Held>
requires(Pairs::vectors == 1) HWY_INLINE void turn_held(const typename Pairs::Element* in, typename Pairs::Element* out,
                                                        std::size_t pairs, std::size_t i, V cos, V sin, Held... held) {
  turn_pairs<kInverse, Pairs>(in, out, pairs, i, cos, sin);
  turn_held<kInverse, Pairs>(in, out, pairs, i + Pairs::per_step(), held...);
}
template <bool kInverse, class Pairs, class V, class... Held>
requires(Pairs::vectors == 2) HWY_INLINE
    void turn_held(const typename Pairs::Element* in, typename Pairs::Element* out, std::size_t pairs, std::size_t i,
                   V cos0, V sin0, V cos1, V sin1, Held... held) {
  turn_pairs<kInverse, Pairs>(in, out, pairs, i, cos0, sin0, cos1, sin1);
  turn_held<kInverse, Pairs>(in, out, pairs, i + Pairs::per_step(), held...);
}

// Turns the first `body` pairs of all heads. Memory is walked in order, head after head; the first kHeld vectors of cos
// and sin stay in registers (`held`) meanwhile, the others are read again for each head, from the first cache.
template <int kHeld, bool kInverse, class Pairs, class... Held>
HWY_INLINE void rotate_heads(const RotateToken& token, const float* cos, const float* sin, std::size_t body,
                             Held... held) {
  using T = typename Pairs::Element;
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  if constexpr (sizeof...(held) < 2 * kHeld) {
    const std::size_t at = sizeof...(held) / 2 * lanes;
    rotate_heads<kHeld, kInverse, Pairs>(token, cos, sin, body, held..., hn::LoadU(d, cos + at),
                                         hn::LoadU(d, sin + at));
  } else {
    const std::size_t pairs = token.pairs;
    const std::ptrdiff_t in_stride = token.in_head_stride;
    const std::ptrdiff_t out_stride = token.out_head_stride;
    const T* in = static_cast<const T*>(token.in);
    T* out = static_cast<T*>(token.out);
    for (std::size_t h = token.heads; h > 0; --h, in += in_stride, out += out_stride) {
      turn_held<kInverse, Pairs>(in, out, pairs, 0, held...);
      for (std::size_t i = kHeld * lanes; i < body; i += Pairs::per_step()) {
        if constexpr (Pairs::vectors == 2) {
          turn_pairs<kInverse, Pairs>(in, out, pairs, i, hn::LoadU(d, cos + i), hn::LoadU(d, sin + i),
                                      hn::LoadU(d, cos + i + lanes), hn::LoadU(d, sin + i + lanes));
        } else {
          turn_pairs<kInverse, Pairs>(in, out, pairs, i, hn::LoadU(d, cos + i), hn::LoadU(d, sin + i));
        }
      }
    }
  }
}

// A token whose order of coordinates stays as it is.
template <bool kInverse, class Pairs>
void rotate_token(const RotateToken& token) {
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  const std::size_t body = token.pairs / Pairs::per_step() * Pairs::per_step();
  const float* cos = token.cos;
  const float* sin = token.sin;
  if constexpr (Pairs::reorders) {
    Pairs::reorder(token.cos, body, token.spread);
    Pairs::reorder(token.sin, body, token.spread + token.pairs);
    cos = token.spread;
    sin = token.spread + token.pairs;
  }
  // Twelve of sixteen vector registers for cos and sin, where the conversions do not need them.
  constexpr int held = Pairs::held;
  if (body >= held * lanes) {
    rotate_heads<held, kInverse, Pairs>(token, cos, sin, body);
  } else if (body >= 2 * lanes) {
    rotate_heads<2, kInverse, Pairs>(token, cos, sin, body);
  } else {
    rotate_heads<0, kInverse, Pairs>(token, cos, sin, body);
  }
  if (body < token.pairs) {
    rotate_any_layout<kInverse, typename Pairs::Element>(token, Pairs::interleaved, Pairs::interleaved, body);
  }
}

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
