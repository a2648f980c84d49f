// SPDX-License-Identifier: Apache-2.0
// What happens to the scores of a tile of attention between the two products, for one SIMD target: differences of
// numbers, a soft cap, the online softmax.

#if defined(LOCUS_KERNELS_ATTEND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ATTEND_INL_H_
#undef LOCUS_KERNELS_ATTEND_INL_H_
#else
#define LOCUS_KERNELS_ATTEND_INL_H_
#endif

#include <limits>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "kernels/attend_pack-inl.h"
#include "kernels/attend_products-inl.h"
#include "kernels/attend_simd.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {

//   for (i < rows) for (c < columns) scores[i][c] += float(row[i] - column[c]);
inline void add_differences_tile(const DifferenceTile& tile) {
  for (std::int64_t i = 0; i < tile.rows; ++i) {
    float* HWY_RESTRICT scores = tile.scores + i * tile.stride;
    std::int64_t c = 0;
#if HWY_HAVE_FLOAT64
    const hn::ScalableTag<double> d;
    const hn::Rebind<float, decltype(d)> df;
    const auto row = hn::Set(d, tile.row[i]);
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    for (; c + lanes <= tile.columns; c += lanes) {
      const auto difference = hn::DemoteTo(df, hn::Sub(row, hn::LoadU(d, tile.column + c)));
      hn::StoreU(hn::Add(hn::LoadU(df, scores + c), difference), df, scores + c);
    }
#endif
    for (; c < tile.columns; ++c) scores[c] += static_cast<float>(tile.row[i] - tile.column[c]);
  }
}

// ---- softmax

//   for (i < rows) for (c < columns) scores[i][c] = limit * tanh(scores[i][c] / limit);
inline void cap_tile(const SoftmaxTile& tile, float limit) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  for (std::int64_t i = 0; i < tile.shape.rows; ++i) {
    float* row = tile.scores + i * tile.stride;
    for (std::int64_t c = 0; c < tile.shape.columns; c += lanes) {
      const auto x = hn::Div(hn::LoadU(d, row + c), hn::Set(d, limit));
      hn::StoreU(hn::Mul(hn::CallTanh(d, x), hn::Set(d, limit)), d, row + c);
    }
  }
}

//   for (c < count) largest = max(largest, row[c]);
HWY_INLINE float largest_of(const float* row, std::int64_t count) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  auto m0 = hn::Set(d, -std::numeric_limits<float>::infinity());
  auto m1 = m0, m2 = m0, m3 = m0;
  std::int64_t c = 0;
  for (; c + 4 * lanes <= count; c += 4 * lanes) {
    m0 = hn::Max(m0, hn::LoadU(d, row + c));
    m1 = hn::Max(m1, hn::LoadU(d, row + c + lanes));
    m2 = hn::Max(m2, hn::LoadU(d, row + c + 2 * lanes));
    m3 = hn::Max(m3, hn::LoadU(d, row + c + 3 * lanes));
  }
  for (; c + lanes <= count; c += lanes) m0 = hn::Max(m0, hn::LoadU(d, row + c));
  float largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
  for (; c < count; ++c) largest = HWY_MAX(largest, row[c]);
  return largest;
}

//   for (c < count) { row[c] = exp2(row[c] - top); sum += row[c]; }   zeros up to a whole vector
HWY_INLINE float weights_of(float* row, std::int64_t count, float top) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const auto tops = hn::Set(d, top);
  auto sum0 = hn::Zero(d), sum1 = hn::Zero(d);
  std::int64_t c = 0;
  for (; c + 2 * lanes <= count; c += 2 * lanes) {
    const auto w0 = exp2_of(hn::Sub(hn::LoadU(d, row + c), tops));
    const auto w1 = exp2_of(hn::Sub(hn::LoadU(d, row + c + lanes), tops));
    hn::StoreU(w0, d, row + c);
    hn::StoreU(w1, d, row + c + lanes);
    sum0 = hn::Add(sum0, w0);
    sum1 = hn::Add(sum1, w1);
  }
  for (; c < count; c += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(HWY_MIN(lanes, count - c)));
    const auto w = hn::IfThenElseZero(inside, exp2_of(hn::Sub(hn::LoadU(d, row + c), tops)));
    hn::StoreU(w, d, row + c);
    sum0 = hn::Add(sum0, w);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
}

//   after = max(top[i], scores[i][c] of the visible c);  rescale[i] = exp2(top[i] - after);  top[i] = after;
//   scores[i][c] = exp2(scores[i][c] - after);  total[i] = total[i] * rescale[i] + sum of scores[i];
// Three passes (tops, rescaling, weights), so that rows do not wait for one another.
inline void softmax_tile(const SoftmaxTile& tile) {
  const FloatTag d;
  constexpr float nothing = -std::numeric_limits<float>::infinity();
  const TileRows& shape = tile.shape;
  const auto begin_of = [&](std::int64_t i) { return shape.begin == nullptr ? 0 : std::int64_t{shape.begin[i]}; };
  const auto end_of = [&](std::int64_t i) { return shape.end == nullptr ? shape.columns : std::int64_t{shape.end[i]}; };
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    const std::int64_t begin = begin_of(i), end = end_of(i);
    const float largest = begin < end ? largest_of(tile.scores + i * tile.stride + begin, end - begin) : nothing;
    tile.rescale[i] = largest <= tile.top[i] ? tile.top[i] : largest;  // propagates NaN
  }
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    const float before = tile.top[i], after = tile.rescale[i];
    tile.top[i] = after;
    tile.rescale[i] = after == before ? 1.0f : hn::GetLane(exp2_of(hn::Set(d, before - after)));
  }
  const Columns needed = columns_of(shape, 0, shape.rows);
  for (std::int64_t i = 0; i < shape.rows; ++i) {
    float* row = tile.scores + i * tile.stride;
    const std::int64_t begin = HWY_MIN(begin_of(i), end_of(i)), end = end_of(i);
    // If no key has been visible so far, any finite top will do: all weights are 0.
    const float sum = weights_of(row + begin, end - begin, tile.top[i] == nothing ? 0.0f : tile.top[i]);
    tile.total[i] = tile.total[i] * static_cast<double>(tile.rescale[i]) + static_cast<double>(sum);
    for (std::int64_t c = needed.begin; c < begin; ++c) row[c] = 0;
    for (std::int64_t c = end; c < needed.end; ++c) row[c] = 0;
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
