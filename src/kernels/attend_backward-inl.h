// SPDX-License-Identifier: Apache-2.0
// Tiles of the backward pass of attention for one SIMD target. The product with a transposed tile is register-blocked
// like those of attend-inl.h: 6 columns of the tile x 2 vectors; a step reads 6 neighbours of one row.

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

// ---- weights

//   for (begin <= c < end) { scores[c] = exp2(scores[c] - lse); products[c] = scores[c] * (products[c] - mean); }
inline void weight_row(float* scores, float* products, std::int64_t begin, std::int64_t end, float lse, float mean) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const auto lses = hn::Set(d, lse);
  const auto means = hn::Set(d, mean);
  std::int64_t c = begin;
  for (; c + lanes <= end; c += lanes) {
    const auto w = exp2_of_negative(hn::Sub(hn::LoadU(d, scores + c), lses));
    hn::StoreU(w, d, scores + c);
    hn::StoreU(hn::Mul(w, hn::Sub(hn::LoadU(d, products + c), means)), d, products + c);
  }
  if (c >= end) return;
  const auto inside = hn::FirstN(d, static_cast<std::size_t>(end - c));
  const auto w = hn::IfThenElseZero(inside, exp2_of_negative(hn::Sub(hn::LoadU(d, scores + c), lses)));
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

// ---- the transposed product

// Separate members, because arrays cannot hold vectors of unknown size.
struct ColumnSums {
  FloatVec a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1;
};

#define LOCUS_FOR_COLUMNS(sums, visit)                    \
  visit(0, sums.a0, sums.a1);                             \
  if constexpr (kColumns > 1) visit(1, sums.b0, sums.b1); \
  if constexpr (kColumns > 2) visit(2, sums.c0, sums.c1); \
  if constexpr (kColumns > 3) visit(3, sums.d0, sums.d1); \
  if constexpr (kColumns > 4) visit(4, sums.e0, sums.e1); \
  if constexpr (kColumns > 5) visit(5, sums.f0, sums.f1)

//   for (c < kColumns) for (j < panel) output[c][j] += sum over p < rows of weights[p][c] * values[p][j];
template <std::int64_t kColumns>
void transposed_panel(const float* HWY_RESTRICT weights, std::int64_t stride, std::int64_t rows,
                      const float* HWY_RESTRICT values, float* output, std::int64_t output_stride) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const auto zero = hn::Zero(d);
  ColumnSums sums{zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero};
#define LOCUS_LOAD(column, x0, x1)                             \
  do {                                                         \
    x0 = hn::Load(d, output + (column)*output_stride);         \
    x1 = hn::Load(d, output + (column)*output_stride + lanes); \
  } while (0)
  LOCUS_FOR_COLUMNS(sums, LOCUS_LOAD);
#undef LOCUS_LOAD
  for (std::int64_t p = 0; p < rows; ++p, values += 2 * lanes, weights += stride) {
    const auto r0 = hn::Load(d, values);
    const auto r1 = hn::Load(d, values + lanes);
#define LOCUS_STEP(column, x0, x1)                \
  do {                                            \
    const auto x = hn::Set(d, weights[(column)]); \
    x0 = hn::MulAdd(x, r0, x0);                   \
    x1 = hn::MulAdd(x, r1, x1);                   \
  } while (0)
    LOCUS_FOR_COLUMNS(sums, LOCUS_STEP);
#undef LOCUS_STEP
  }
#define LOCUS_STORE(column, x0, x1)                            \
  do {                                                         \
    hn::Store(x0, d, output + (column)*output_stride);         \
    hn::Store(x1, d, output + (column)*output_stride + lanes); \
  } while (0)
  LOCUS_FOR_COLUMNS(sums, LOCUS_STORE);
#undef LOCUS_STORE
}
#undef LOCUS_FOR_COLUMNS

struct RowRange {
  std::int64_t begin;
  std::int64_t end;
};

// The rows that have weights in columns [first, end).
inline RowRange rows_of(const TileRows& shape, std::int64_t first, std::int64_t end) {
  RowRange all{0, shape.rows};
  if (shape.begin == nullptr) return all;
  const auto empty = [&](std::int64_t i) {
    return HWY_MAX(first, std::int64_t{shape.begin[i]}) >= HWY_MIN(end, std::int64_t{shape.end[i]});
  };
  while (all.begin < all.end && empty(all.begin)) ++all.begin;
  while (all.begin < all.end && empty(all.end - 1)) --all.end;
  return all;
}

inline void transposed_tile(const TransposedTile& tile) {
  constexpr std::int64_t columns_at_once = 6;
  const std::int64_t panel = panel_width();
  for (std::int64_t first = 0; first < tile.shape.columns; first += columns_at_once) {
    const std::int64_t count = HWY_MIN(columns_at_once, tile.shape.columns - first);
    const RowRange rows = rows_of(tile.shape, first, first + count);
    if (rows.begin >= rows.end) continue;
    const float* weights = tile.weights + rows.begin * tile.stride + first;
    const auto run = count == 6   ? transposed_panel<6>
                     : count == 5 ? transposed_panel<5>
                     : count == 4 ? transposed_panel<4>
                     : count == 3 ? transposed_panel<3>
                     : count == 2 ? transposed_panel<2>
                                  : transposed_panel<1>;
    for (std::int64_t column = 0; column < tile.dim; column += panel) {
      const float* values = tile.values + column / panel * tile.panel_stride + rows.begin * panel;
      run(weights, tile.stride, rows.end - rows.begin, values, tile.output + first * tile.dim + column, tile.dim);
    }
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
