// SPDX-License-Identifier: Apache-2.0
// Rotates the heads of tokens, for one SIMD target. Included once per target by rotate_simd.cpp.
//
//   half:         [x0 x1 x2 x3 | y0 y1 y2 y3]     interleaved: [x0 y0 x1 y1 x2 y2 x3 y3]
//
//   x' = x cos - y sin,  y' = y cos + x sin       (inverse: a copy of the row with sin negated)
//
// Every element type is widened to float32, rotated, and rounded once to nearest even. x' and y' are each one product
// and one fused multiply-add, in this order, for every layout and lane.
//
// There is one loop. pairs-inl.h loads and stores the coordinates; it may permute a token's pairs, together with cos
// and sin. In scalar form:
//   for (t < tokens) for (h < heads) for (i < pairs) {
//     out.x[i] = in.x[i] * cos[t][i] - in.y[i] * sin[t][i];
//     out.y[i] = in.y[i] * cos[t][i] + in.x[i] * sin[t][i]; }

#if defined(LOCUS_KERNELS_ROTATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ROTATE_INL_H_
#undef LOCUS_KERNELS_ROTATE_INL_H_
#else
#define LOCUS_KERNELS_ROTATE_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/pairs-inl.h"
#include "kernels/rotate_simd.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
HWY_INLINE V turned_x(V x, V y, V cos, V sin) {
  return hn::NegMulAdd(y, sin, hn::Mul(x, cos));
}
template <class V>
HWY_INLINE V turned_y(V x, V y, V cos, V sin) {
  return hn::MulAdd(x, sin, hn::Mul(y, cos));
}

// The sin of a row, negated for the inverse rotation: one pass for all heads instead of a second set of loops.
inline const float* sin_of(const RotateTokens& all, const float* row) {
  const float* sin = row + all.pairs;
  if (!all.inverse) return sin;
  float* negated = all.scratch + 2 * all.pairs;
  for (std::size_t i = 0; i < all.pairs; ++i) negated[i] = -sin[i];
  return negated;
}

// One token's heads and its row.
template <class T>
struct Token {
  const T* in;
  T* out;
  const float* cos;
  const float* sin;
};

template <class T>
HWY_INLINE Token<T> token_at(const RotateTokens& all, std::size_t t) {
  const auto index = static_cast<std::ptrdiff_t>(t);
  return {static_cast<const T*>(all.in) + index * all.in_token_stride,
          static_cast<T*>(all.out) + index * all.out_token_stride, all.rows[t], sin_of(all, all.rows[t])};
}

// One pair at a time, for tails and for outputs of another layout.
template <class T>
void rotate_any_layout(const RotateTokens& all, const Token<T>& token, bool interleaved_in, bool interleaved_out,
                       std::size_t first_pair) {
  const hn::CappedTag<float, 1> d;
  const T* in = token.in;
  T* out = token.out;
  for (std::size_t h = 0; h < all.heads; ++h, in += all.in_head_stride, out += all.out_head_stride) {
    for (std::size_t i = first_pair; i < all.pairs; ++i) {
      const auto x = load(d, in + (interleaved_in ? 2 * i : i));
      const auto y = load(d, in + (interleaved_in ? 2 * i + 1 : all.pairs + i));
      const auto cos = hn::Set(d, token.cos[i]);
      const auto sin = hn::Set(d, token.sin[i]);
      store(d, turned_x(x, y, cos, sin), out + (interleaved_out ? 2 * i : i));
      store(d, turned_y(x, y, cos, sin), out + (interleaved_out ? 2 * i + 1 : all.pairs + i));
    }
  }
}

// A vector of cosines and one of sines.
template <class V>
struct CosSin {
  V cos, sin;
};

// Rotates one or two vectors of pairs, one step of the layout, from pair i on.
template <class Pairs, class V>
HWY_INLINE void turn_pairs(const typename Pairs::Head& in, const typename Pairs::Head& out, std::size_t i,
                           CosSin<V> by) {
  V x, y;
  Pairs::load(in, i, x, y);
  Pairs::store(out, i, turned_x(x, y, by.cos, by.sin), turned_y(x, y, by.cos, by.sin));
}
template <class Pairs, class V>
HWY_INLINE void turn_pairs(const typename Pairs::Head& in, const typename Pairs::Head& out, std::size_t i,
                           CosSin<V> first, CosSin<V> second) {
  V x0, x1, y0, y1;
  Pairs::load(in, i, x0, x1, y0, y1);
  Pairs::store(out, i, turned_x(x0, y0, first.cos, first.sin), turned_x(x1, y1, second.cos, second.sin),
               turned_y(x0, y0, first.cos, first.sin), turned_y(x1, y1, second.cos, second.sin));
}

// The vectors whose cos and sin are held in registers.
template <class Pairs>
HWY_INLINE void turn_held(const typename Pairs::Head&, const typename Pairs::Head&, std::size_t) {}
template <class Pairs, class V, class... Held>
requires(Pairs::vectors == 1) HWY_INLINE void turn_held(const typename Pairs::Head& in, const typename Pairs::Head& out,
                                                        std::size_t i, CosSin<V> by, Held... held) {
  turn_pairs<Pairs>(in, out, i, by);
  turn_held<Pairs>(in, out, i + Pairs::per_step(), held...);
}
template <class Pairs, class V, class... Held>
requires(Pairs::vectors == 2) HWY_INLINE
    void turn_held(const typename Pairs::Head& in, const typename Pairs::Head& out, std::size_t i, CosSin<V> first,
                   CosSin<V> second, Held... held) {
  turn_pairs<Pairs>(in, out, i, first, second);
  turn_held<Pairs>(in, out, i + Pairs::per_step(), held...);
}

// The vectors whose cos and sin are reloaded.
template <class Pairs>
HWY_INLINE void turn_read(const typename Pairs::Head& in, const typename Pairs::Head& out, std::size_t i,
                          const float* cos, const float* sin) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  using By = CosSin<hn::Vec<decltype(d)>>;
  const By first{loaded_once(hn::LoadU(d, cos + i)), loaded_once(hn::LoadU(d, sin + i))};
  if constexpr (Pairs::vectors == 2) {
    turn_pairs<Pairs>(in, out, i, first, By{hn::LoadU(d, cos + i + lanes), hn::LoadU(d, sin + i + lanes)});
  } else {
    turn_pairs<Pairs>(in, out, i, first);
  }
}

template <int kSteps, class Pairs>
HWY_INLINE void turn_read_steps(const typename Pairs::Head& in, const typename Pairs::Head& out, std::size_t i,
                                const float* cos, const float* sin) {
  if constexpr (kSteps > 0) {
    turn_read<Pairs>(in, out, i, cos, sin);
    turn_read_steps<kSteps - 1, Pairs>(in, out, i + Pairs::per_step(), cos, sin);
  }
}

// Rotates the first `body` pairs of all heads, head after head in memory order. The first kHeld vectors of cos and
// sin stay in registers (`held`); the others are reloaded for each head from the L1 cache. kRead: the number of
// reloading steps, or -1 if it is known only at run time.
template <int kHeld, int kRead, bool kInPlace, class Pairs, class T, class... Held>
HWY_INLINE void rotate_heads(const RotateTokens& all, const Token<T>& token, std::size_t body, Held... held) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  if constexpr (sizeof...(held) < kHeld) {
    const std::size_t at = sizeof...(held) * lanes;
    rotate_heads<kHeld, kRead, kInPlace, Pairs>(
        all, token, body, held...,
        CosSin<hn::Vec<decltype(d)>>{hn::LoadU(d, token.cos + at), hn::LoadU(d, token.sin + at)});
  } else {
    const std::size_t step = Pairs::per_step();
    const float* cos = token.cos;
    const float* sin = token.sin;
    typename Pairs::Head in(const_cast<T*>(token.in), all.pairs);
    typename Pairs::Head out(token.out, all.pairs);
    for (std::size_t h = all.heads; h > 0; --h) {
      const typename Pairs::Head& from = kInPlace ? out : in;  // fewer pointers to keep
      turn_held<Pairs>(from, out, 0, held...);
      std::size_t i = kHeld * lanes;
      turn_read_steps<kRead, Pairs>(from, out, i, cos, sin);
      if constexpr (kRead < 0) {
        for (; i < body; i += step) turn_read<Pairs>(from, out, i, cos, sin);
      }
      if constexpr (!kInPlace) in.advance(all.in_head_stride);
      out.advance(all.out_head_stride);
    }
  }
}

template <int kHeld, int kRead, bool kInPlace, class Pairs>
HWY_INLINE void rotate_each(const RotateTokens& given, std::size_t body) {
  using T = typename Pairs::Element;
  const RotateTokens all = given;  // stores through `out` cannot alias a local copy
  const T* in = static_cast<const T*>(all.in);
  T* out = static_cast<T*>(all.out);
  for (std::size_t t = 0; t < all.tokens; ++t, in += all.in_token_stride, out += all.out_token_stride) {
    const float* row = all.rows[t];
    const Token<T> token{in, out, row, sin_of(all, row)};
    Token<T> ordered = token;
    if constexpr (Pairs::reorders) {
      Pairs::reorder(token.cos, body, all.scratch);
      Pairs::reorder(token.sin, body, all.scratch + all.pairs);
      ordered.cos = all.scratch;
      ordered.sin = all.scratch + all.pairs;
    }
    rotate_heads<kHeld, kRead, kInPlace, Pairs>(all, ordered, body);
    if (body < all.pairs) rotate_any_layout(all, token, Pairs::interleaved, Pairs::interleaved, body);
  }
}

// Heads of a common width get a fully unrolled inner loop.
template <bool kInPlace, class Pairs>
HWY_INLINE void rotate_any_width(const RotateTokens& all) {
  constexpr int held = Pairs::held;
  constexpr int read = (8 - held) / Pairs::vectors;
  const std::size_t lanes = hn::Lanes(hn::ScalableTag<float>());
  const std::size_t body = all.pairs / Pairs::per_step() * Pairs::per_step();
  if (body == 8 * lanes) {
    rotate_each<held, read, kInPlace, Pairs>(all, body);
  } else if (body >= held * lanes) {
    rotate_each<held, -1, kInPlace, Pairs>(all, body);
  } else {
    rotate_each<0, -1, kInPlace, Pairs>(all, body);
  }
}

// Tokens whose order of coordinates does not change.
template <class Pairs>
void rotate_tokens(const RotateTokens& all) {
  const bool in_place =
      all.in == all.out && all.in_head_stride == all.out_head_stride && all.in_token_stride == all.out_token_stride;
  in_place ? rotate_any_width<true, Pairs>(all) : rotate_any_width<false, Pairs>(all);
}

template <class T>
void rotate_to_half(const RotateTokens& all) {
  for (std::size_t t = 0; t < all.tokens; ++t) {
    rotate_any_layout(all, token_at<T>(all, t), true, false, 0);
  }
}
template <class T>
void rotate_to_interleaved(const RotateTokens& all) {
  for (std::size_t t = 0; t < all.tokens; ++t) {
    rotate_any_layout(all, token_at<T>(all, t), false, true, 0);
  }
}

template <class T>
void scale_heads(const ScaleHeads& all) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  const T* in = static_cast<const T*>(all.in);
  T* out = static_cast<T*>(all.out);
  for (std::size_t h = 0; h < all.heads; ++h, in += all.in_head_stride, out += all.out_head_stride) {
    std::size_t i = 0;
    for (; i + lanes <= all.count; i += lanes) store(d, hn::Mul(load(d, in + i), hn::Set(d, all.factor)), out + i);
    for (; i < all.count; ++i) store(one, hn::Mul(load(one, in + i), hn::Set(one, all.factor)), out + i);
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
