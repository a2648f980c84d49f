// SPDX-License-Identifier: Apache-2.0
// The weights and score gradients of the backward pass of attention for one SIMD target.

#if defined(LOCUS_KERNELS_ATTEND_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ATTEND_BACKWARD_INL_H_
#undef LOCUS_KERNELS_ATTEND_BACKWARD_INL_H_
#else
#define LOCUS_KERNELS_ATTEND_BACKWARD_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/attend-inl.h"
#include "kernels/attend_backward_simd.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {

//   for (begin <= c < end) { scores[c] = exp2(scores[c] - lse); products[c] = scores[c] * (products[c] - mean); }
inline void weight_row(float* scores, float* products, std::int64_t begin, std::int64_t end, float lse, float mean) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const auto lses = hn::Set(d, lse);
  const auto means = hn::Set(d, mean);
  std::int64_t c = begin;
  for (; c + lanes <= end; c += lanes) {
    const auto w = exp2_of(hn::Sub(hn::LoadU(d, scores + c), lses));
    hn::StoreU(w, d, scores + c);
    hn::StoreU(hn::Mul(w, hn::Sub(hn::LoadU(d, products + c), means)), d, products + c);
  }
  if (c >= end) return;
  const auto inside = hn::FirstN(d, static_cast<std::size_t>(end - c));
  const auto w = hn::IfThenElseZero(inside, exp2_of(hn::Sub(hn::LoadU(d, scores + c), lses)));
  const auto ds = hn::IfThenElseZero(inside, hn::Mul(w, hn::Sub(hn::LoadU(d, products + c), means)));
  hn::StoreU(w, d, scores + c);
  hn::StoreU(ds, d, products + c);
}

inline void weight_tile(const WeightTile& tile) {
  const TileRows& shape = tile.shape;
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    float* scores = tile.scores + i * tile.stride;
    float* products = tile.products + i * tile.stride;
    const std::int64_t begin = shape.begin == nullptr ? 0 : shape.begin[i];
    const std::int64_t end = shape.end == nullptr ? shape.columns : HWY_MAX(begin, std::int64_t{shape.end[i]});
    weight_row(scores, products, begin, end, tile.log_sum_exp[i], tile.mean[i]);
    for (std::int64_t c = 0; c < begin; ++c) scores[c] = products[c] = 0;
    for (std::int64_t c = end; c < shape.columns; ++c) scores[c] = products[c] = 0;
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
