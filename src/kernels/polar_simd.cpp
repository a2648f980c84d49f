// SPDX-License-Identifier: Apache-2.0
// Compiles the polar form of heads for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/polar_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <algorithm>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "kernels/polar_simd.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace {

// Nothing overflows: softplus(x) = max(x, 0) + ln(1 + e^-|x|).
template <class D>
HWY_INLINE hn::Vec<D> softplus(D d, hn::Vec<D> x) {
  const auto small = hn::Exp(d, hn::Neg(hn::Abs(x)));
  return hn::Add(hn::Max(x, hn::Zero(d)), hn::Log1p(d, small));
}

//   for (c < channels) m = softplus(in[c]), out[2 c] = m cos[c], out[2 c + 1] = m sin[c];
template <class T>
void polar_of(const PolarHeads& token) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  float* plain = token.scratch;
  float* pairs = token.scratch + token.room;
  const auto* in = static_cast<const T*>(token.in);
  auto* out = static_cast<T*>(token.out);
  for (std::size_t h = 0; h < token.heads; ++h, in += token.in_head_stride, out += token.out_head_stride) {
    const float* cos = token.cos_sin == nullptr ? nullptr : token.cos_sin + 2 * h * token.room;
    for (std::size_t c = 0; c < token.channels; ++c) hn::StoreU(load(one, in + c), one, plain + c);
    std::fill(plain + token.channels, plain + token.room, 0.0f);
    for (std::size_t c = 0; c < token.channels; c += lanes) {
      const auto m = softplus(d, hn::LoadU(d, plain + c));
      const auto x = cos == nullptr ? m : hn::Mul(m, hn::LoadU(d, cos + c));
      const auto y = cos == nullptr ? hn::Zero(d) : hn::Mul(m, hn::LoadU(d, cos + token.room + c));
      hn::StoreInterleaved2(x, y, d, pairs + 2 * c);
    }
    std::size_t j = 0;
    for (; j + lanes <= 2 * token.channels; j += lanes) store(d, hn::LoadU(d, pairs + j), out + j);
    for (; j < 2 * token.channels; ++j) store(one, hn::LoadU(one, pairs + j), out + j);
  }
}

}  // namespace

void polar_heads_here(ElementType type, const PolarHeads& token) {
  if (type == ElementType::bfloat16) return polar_of<BFloat16>(token);
  if (type == ElementType::float16) return polar_of<Float16>(token);
  polar_of<float>(token);
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(polar_heads_here);

void polar_heads(ElementType type, const PolarHeads& token) { HWY_DYNAMIC_DISPATCH(polar_heads_here)(type, token); }

}  // namespace locus
#endif
