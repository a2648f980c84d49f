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
// There is one loop. pairs-inl.h turns the coordinates of one step; it may prepare a token's row first. In scalar form:
//   for (t < tokens) for (h < heads) for (i < pairs) {
//     out.x[i] = in.x[i] * cos[t][i] - in.y[i] * sin[t][i];
//     out.y[i] = in.y[i] * cos[t][i] + in.x[i] * sin[t][i]; }

#if defined(LOCUS_KERNELS_ROTATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ROTATE_INL_H_
#undef LOCUS_KERNELS_ROTATE_INL_H_
#else
#define LOCUS_KERNELS_ROTATE_INL_H_
#endif

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/pairs-inl.h"
#include "kernels/rotate_simd.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The sin of a row, negated for the inverse rotation: one pass for all heads instead of a second set of loops.
inline const float* sin_of(const RotateTokens& all, const float* row) {
  const float* sin = row + all.pairs;
  if (!all.inverse) return sin;
  float* negated = all.scratch + 4 * all.pairs;
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
      const CosSin<hn::Vec<decltype(d)>> by{hn::Set(d, token.cos[i]), hn::Set(d, token.sin[i])};
      store(d, turned_x(x, y, by), out + (interleaved_out ? 2 * i : i));
      store(d, turned_y(x, y, by), out + (interleaved_out ? 2 * i + 1 : all.pairs + i));
    }
  }
}

// The steps whose cos and sin are held in registers.
template <class Layout>
HWY_INLINE void turn_held(const typename Layout::Head&, const typename Layout::Head&, std::size_t) {}
template <class Layout, class By, class... Held>
requires(Layout::vectors == 1) HWY_INLINE
    void turn_held(const typename Layout::Head& in, const typename Layout::Head& out, std::size_t i, By by,
                   Held... held) {
  Layout::turn(in, out, i, by);
  turn_held<Layout>(in, out, i + hn::Lanes(typename Layout::Tag()), held...);
}
template <class Layout, class By, class... Held>
requires(Layout::vectors == 2) HWY_INLINE
    void turn_held(const typename Layout::Head& in, const typename Layout::Head& out, std::size_t i, By first,
                   By second, Held... held) {
  Layout::turn(in, out, i, first, second);
  turn_held<Layout>(in, out, i + 2 * hn::Lanes(typename Layout::Tag()), held...);
}

// The steps whose cos and sin are reloaded.
template <class Layout>
HWY_INLINE void turn_read(const typename Layout::Head& in, const typename Layout::Head& out, std::size_t i,
                          const float* cos, const float* sin) {
  const typename Layout::Tag d;
  const std::size_t lanes = hn::Lanes(d);
  using By = typename Layout::By;
  const By first{loaded_once(hn::LoadU(d, cos + i)), loaded_once(hn::LoadU(d, sin + i))};
  if constexpr (Layout::vectors == 2) {
    Layout::turn(in, out, i, first, By{hn::LoadU(d, cos + i + lanes), hn::LoadU(d, sin + i + lanes)});
  } else {
    Layout::turn(in, out, i, first);
  }
}

template <int kSteps, class Layout>
HWY_INLINE void turn_read_steps(const typename Layout::Head& in, const typename Layout::Head& out, std::size_t i,
                                const float* cos, const float* sin) {
  if constexpr (kSteps > 0) {
    turn_read<Layout>(in, out, i, cos, sin);
    turn_read_steps<kSteps - 1, Layout>(in, out, i + Layout::vectors * hn::Lanes(typename Layout::Tag()), cos, sin);
  }
}

// Loads and arithmetic hardly overlap if the data are far away, so each head asks for the data of later ones.
template <class T>
HWY_INLINE void prefetch_ahead(const T* head, std::size_t bytes) {
  constexpr std::size_t distance = 3072, line = 64;
  const auto* ahead = reinterpret_cast<const char*>(head) + distance;
  for (std::size_t i = 0; i < bytes; i += line) hwy::Prefetch(ahead + i);
}

// Rotates the same pairs of all heads, head after head in memory order, by `count` entries of the token's prepared row.
// The first kHeld vectors of cos and sin stay in registers (`held`); the others are reloaded for each head from the L1
// cache. kRead: the number of reloading steps, or -1 if it is known only at run time.
template <int kHeld, int kRead, bool kInPlace, class Layout, class T, class... Held>
HWY_INLINE void rotate_heads(const RotateTokens& all, const Token<T>& token, std::size_t count, Held... held) {
  const typename Layout::Tag d;
  const std::size_t lanes = hn::Lanes(d);
  if constexpr (sizeof...(held) < kHeld) {
    const std::size_t at = sizeof...(held) * lanes;
    rotate_heads<kHeld, kRead, kInPlace, Layout>(
        all, token, count, held..., typename Layout::By{hn::LoadU(d, token.cos + at), hn::LoadU(d, token.sin + at)});
  } else {
    const std::size_t vectors = kRead < 0 ? count / lanes : static_cast<std::size_t>(kHeld + kRead * Layout::vectors);
    const std::size_t bytes = 2 * vectors * lanes / Layout::row_floats * sizeof(T);
    const float* cos = token.cos;
    const float* sin = token.sin;
    typename Layout::Head in(const_cast<T*>(token.in), all.pairs);
    typename Layout::Head out(token.out, all.pairs);
    const T* from = token.in;
    for (std::size_t h = all.heads; h > 0; --h) {
      const typename Layout::Head& read = kInPlace ? out : in;  // fewer pointers to keep
      prefetch_ahead(from, bytes);
      turn_held<Layout>(read, out, 0, held...);
      std::size_t i = kHeld * lanes;
      turn_read_steps<kRead, Layout>(read, out, i, cos, sin);
      if constexpr (kRead < 0) {
        for (; i < count; i += Layout::vectors * lanes) turn_read<Layout>(read, out, i, cos, sin);
      }
      if constexpr (!kInPlace) in.advance(all.in_head_stride);
      out.advance(all.out_head_stride);
      from += all.in_head_stride;
    }
  }
}

// Pairs per step of the layout.
template <class Layout>
std::size_t step_of_layout() {
  return Layout::vectors * hn::Lanes(typename Layout::Tag()) / Layout::row_floats;
}

// Rotates `pairs` pairs of all heads from pair `first` on.
template <int kHeld, int kRead, bool kInPlace, class Layout, class T>
HWY_INLINE void rotate_part(const RotateTokens& all, const Token<T>& token, std::size_t first, std::size_t pairs) {
  const std::size_t offset = Layout::interleaved ? 2 * first : first;
  Token<T> part{token.in + offset, token.out + offset, token.cos + first, token.sin + first};
  if constexpr (Layout::prepares) {
    float* cos = all.scratch;
    float* sin = all.scratch + Layout::row_floats * all.pairs;
    Layout::prepare(part.cos, part.sin, pairs, cos, sin);
    part.cos = cos;
    part.sin = sin;
  }
  rotate_heads<kHeld, kRead, kInPlace, Layout>(all, part, pairs * Layout::row_floats);
}

// The pairs from `first` on, which do not fill a step of wider vectors.
template <template <class, class> class Pairs, class D, class T>
HWY_NOINLINE void rotate_rest(const RotateTokens& all, const Token<T>& token, std::size_t first) {
  using Layout = Pairs<D, T>;
  const std::size_t step = step_of_layout<Layout>();
  const std::size_t pairs = (all.pairs - first) / step * step;
  if (pairs > 0) rotate_part<0, -1, false, Layout>(all, token, first, pairs);
  if (first + pairs == all.pairs) return;
  if constexpr (hn::MaxLanes(D()) > 4) {
    rotate_rest<Pairs, hn::Half<D>>(all, token, first + pairs);
  } else {
    rotate_any_layout(all, token, Layout::interleaved, Layout::interleaved, first + pairs);
  }
}

template <int kHeld, int kRead, bool kInPlace, template <class, class> class Pairs, class D, class T>
HWY_INLINE void rotate_each(const RotateTokens& given, std::size_t body) {
  const RotateTokens all = given;  // stores through `out` cannot alias a local copy
  const T* in = static_cast<const T*>(all.in);
  T* out = static_cast<T*>(all.out);
  for (std::size_t t = 0; t < all.tokens; ++t, in += all.in_token_stride, out += all.out_token_stride) {
    const float* row = all.rows[t];
    const Token<T> token{in, out, row, sin_of(all, row)};
    rotate_part<kHeld, kRead, kInPlace, Pairs<D, T>>(all, token, 0, body);
    if (body < all.pairs) rotate_rest<Pairs, D>(all, token, body);
  }
}

// Heads of a common width, kCount vectors of cosines, get a fully unrolled inner loop.
template <bool kInPlace, template <class, class> class Pairs, class D, class T>
HWY_INLINE void rotate_unrolled(const RotateTokens& all, std::size_t body) {
  using Layout = Pairs<D, T>;
  if (body * Layout::row_floats >= Layout::held * hn::Lanes(D())) {
    rotate_each<Layout::held, -1, kInPlace, Pairs, D, T>(all, body);
  } else {
    rotate_each<0, -1, kInPlace, Pairs, D, T>(all, body);
  }
}
template <bool kInPlace, template <class, class> class Pairs, class D, class T, int kCount, int... kOthers>
HWY_INLINE void rotate_unrolled(const RotateTokens& all, std::size_t body) {
  using Layout = Pairs<D, T>;
  if constexpr (kCount % Layout::vectors == 0) {
    if (body * Layout::row_floats == kCount * hn::Lanes(D())) {
      constexpr int held = kCount < Layout::held ? kCount : Layout::held;
      return rotate_each<held, (kCount - held) / Layout::vectors, kInPlace, Pairs, D, T>(all, body);
    }
  }
  rotate_unrolled<kInPlace, Pairs, D, T, kOthers...>(all, body);
}

template <bool kInPlace, template <class, class> class Pairs, class D, class T>
HWY_INLINE void rotate_any_width(const RotateTokens& all) {
  const std::size_t step = step_of_layout<Pairs<D, T>>();
  const std::size_t body = all.pairs / step * step;
  if constexpr (hn::MaxLanes(D()) >= 16) {
    // Vectors of half the width that fill the head are faster than wide ones and a rest.
    if (body < all.pairs && all.pairs % (step / 2) == 0) return rotate_any_width<kInPlace, Pairs, hn::Half<D>, T>(all);
    rotate_unrolled<kInPlace, Pairs, D, T, 1, 2, 3, 4, 8>(all, body);
  } else if constexpr (hn::MaxLanes(D()) >= 8) {
    rotate_unrolled<kInPlace, Pairs, D, T, 4, 5, 8>(all, body);
  } else {
    rotate_unrolled<kInPlace, Pairs, D, T>(all, body);
  }
}

// Tokens whose order of coordinates does not change.
template <template <class, class> class Pairs, class T>
void rotate_tokens(const RotateTokens& all) {
  using D = hn::ScalableTag<float>;
  const bool in_place =
      all.in == all.out && all.in_head_stride == all.out_head_stride && all.in_token_stride == all.out_token_stride;
  in_place ? rotate_any_width<true, Pairs, D, T>(all) : rotate_any_width<false, Pairs, D, T>(all);
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
