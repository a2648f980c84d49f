// SPDX-License-Identifier: Apache-2.0
// The rotation of one token's heads, for one SIMD target. Included once per target by rotate_simd.cpp.
//
//   half:         [x0 x1 x2 x3 | y0 y1 y2 y3 | rest]     interleaved: [x0 y0 x1 y1 x2 y2 x3 y3 | rest]
//
// Every element type is widened to float32, turned, and rounded once: to nearest even.

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

// Turns the pairs [i, i + lanes) of one head. Reading both halves before writing makes in-place safe.
template <bool kInterleavedIn, bool kInterleavedOut, class D, class T>
HWY_INLINE void turn_pairs(D d, const T* in, T* out, std::size_t pairs, std::size_t i, hn::Vec<D> cos, hn::Vec<D> sin) {
  hn::Vec<D> x, y;
  if constexpr (kInterleavedIn) {
    load_interleaved(d, in + 2 * i, x, y);
  } else {
    x = load(d, in + i);
    y = load(d, in + pairs + i);
  }
  const auto turned_x = hn::NegMulAdd(y, sin, hn::Mul(x, cos));
  const auto turned_y = hn::MulAdd(x, sin, hn::Mul(y, cos));
  if constexpr (kInterleavedOut) {
    store_interleaved(d, turned_x, turned_y, out + 2 * i);
  } else {
    store(d, turned_x, out + i);
    store(d, turned_y, out + pairs + i);
  }
}

// The same pairs of every head, so that their cos and sin stay in registers.
template <bool kInterleavedIn, bool kInterleavedOut, class T, class D>
HWY_INLINE void turn_heads(D d, const RotateToken& token, std::size_t i) {
  const auto cos = hn::LoadU(d, token.cos + i);
  const auto sin = hn::LoadU(d, token.sin + i);
  const T* in = static_cast<const T*>(token.in);
  T* out = static_cast<T*>(token.out);
  for (std::size_t h = 0; h < token.heads; ++h, in += token.in_head_stride, out += token.out_head_stride) {
    turn_pairs<kInterleavedIn, kInterleavedOut>(d, in, out, token.pairs, i, cos, sin);
  }
}

template <bool kInterleavedIn, bool kInterleavedOut, class T>
void rotate_token(const RotateToken& token) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;  // the same operations on one lane: a tail has the same bits as a body
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= token.pairs; i += lanes) turn_heads<kInterleavedIn, kInterleavedOut, T>(d, token, i);
  for (; i < token.pairs; ++i) turn_heads<kInterleavedIn, kInterleavedOut, T>(one, token, i);
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
