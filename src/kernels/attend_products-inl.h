// SPDX-License-Identifier: Apache-2.0
// The products of attention for one SIMD target, register-blocked: up to 6 rows x 4 vectors of accumulators (6 x 2 with
// 16 registers), one broadcast and a fused multiply-add per vector for each row and step. A panel of keys (or of
// values) stays in the L1 cache while the rows are processed.

#if defined(LOCUS_KERNELS_ATTEND_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ATTEND_PRODUCTS_INL_H_
#undef LOCUS_KERNELS_ATTEND_PRODUCTS_INL_H_
#else
#define LOCUS_KERNELS_ATTEND_PRODUCTS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/attend_backward_simd.h"
#include "kernels/attend_simd.h"
#include "kernels/attend_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {

template <std::int64_t kRows, std::int64_t kVectors>
struct Sums {
  FloatVec at[kRows][kVectors];
};

// The rows on the left of a product: element p < depth of a row is at data[row * stride + p] or, if kTransposed, at
// data[p * stride + row].
struct LeftRows {
  const float* data;
  std::int64_t stride;
  std::int64_t depth;
};

// sums += left[row][p] * right[p], over p < depth. The panel on the right is `panel` wide; its first kVectors vectors
// are used.
template <bool kTransposed, std::int64_t kRows, std::int64_t kVectors>
HWY_INLINE void multiply_panel(const LeftRows& rows, const float* HWY_RESTRICT right, std::int64_t panel,
                               Sums<kRows, kVectors>& sums) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const float* HWY_RESTRICT left = rows.data;
  const std::int64_t stride = rows.stride;
  for (std::int64_t p = 0; p < rows.depth; ++p, right += panel) {
    FloatVec r[kVectors];
    unrolled<kVectors>([&](auto v) LOCUS_INLINED { r[v] = hn::Load(d, right + v * lanes); });
    unrolled<kRows>([&](auto row) LOCUS_INLINED {
      const auto x = hn::Set(d, kTransposed ? left[p * stride + row] : left[row * stride + p]);
      unrolled<kVectors>([&](auto v) LOCUS_INLINED { sums.at[row][v] = hn::MulAdd(x, r[v], sums.at[row][v]); });
    });
  }
}

// Calls run.template operator()<kRows>(first) for groups of rows: as many as fit the registers, then 4, 2 and 1.
template <std::int64_t kMost, class Run>
HWY_INLINE void for_row_groups(std::int64_t rows, const Run& run) {
  std::int64_t first = 0;
  for (; first + kMost <= rows; first += kMost) run.template operator()<kMost>(first);
  if constexpr (kMost > 4) {
    for (; first + 4 <= rows; first += 4) run.template operator()<4>(first);
  }
  if constexpr (kMost > 2) {
    for (; first + 2 <= rows; first += 2) run.template operator()<2>(first);
  }
  for (; first < rows; ++first) run.template operator()<1>(first);
}

struct Columns {
  std::int64_t begin;
  std::int64_t end;
};

// The range of columns that any of these rows needs.
inline Columns columns_of(const TileRows& shape, std::int64_t first, std::int64_t count) {
  if (shape.begin == nullptr) return {0, shape.columns};
  Columns all{shape.columns, 0};
  for (std::int64_t i = first; i < first + count; ++i) {
    if (shape.begin[i] >= shape.end[i]) continue;
    all.begin = HWY_MIN(all.begin, static_cast<std::int64_t>(shape.begin[i]));
    all.end = HWY_MAX(all.end, static_cast<std::int64_t>(shape.end[i]));
  }
  return all;
}

// ---- scores

//   for (i < kRows) for (c < kVectors vectors)
//     scores[i][c] = sum over p < dim of query[i][p] * keys[p][c], plus bias[c - i];
// Not inlined: what surrounds it would want its registers.
template <std::int64_t kRows, std::int64_t kVectors>
HWY_NOINLINE void score_panel(const ScoreTile& tile, std::int64_t first, std::int64_t column) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  Sums<kRows, kVectors> sums;
  unrolled<kRows>([&](auto row) LOCUS_INLINED {
    unrolled<kVectors>([&](auto v) LOCUS_INLINED { sums.at[row][v] = hn::Zero(d); });
  });
  multiply_panel<false>(LeftRows{tile.query + first * tile.query_stride, tile.query_stride, tile.dim},
                        tile.keys + column * tile.dim, key_panel_width(), sums);
  if (tile.bias != nullptr) {
    const float* bias = tile.bias + column - first;
    unrolled<kRows>([&](auto row) LOCUS_INLINED {
      unrolled<kVectors>([&](auto v) LOCUS_INLINED {
        sums.at[row][v] = hn::Add(sums.at[row][v], hn::LoadU(d, bias - row + v * lanes));
      });
    });
  }
  float* scores = tile.scores + first * tile.stride + column;
  unrolled<kRows>([&](auto row) LOCUS_INLINED {
    unrolled<kVectors>([&](auto v)
                           LOCUS_INLINED { hn::Store(sums.at[row][v], d, scores + row * tile.stride + v * lanes); });
  });
}

template <std::int64_t kRows, std::int64_t kVectors = 1>
HWY_INLINE void score_vectors(const ScoreTile& tile, std::int64_t first, std::int64_t column, std::int64_t vectors) {
  if constexpr (kVectors < key_vectors) {
    if (vectors > kVectors) return score_vectors<kRows, kVectors + 1>(tile, first, column, vectors);
  }
  score_panel<kRows, kVectors>(tile, first, column);
}

// Scores of every group of rows and every panel that it needs, without the vectors at the end of a panel that it does
// not need. Then calls done(first, rows, column, vectors); vectors is 0 where nothing was needed.
template <class Done>
HWY_INLINE void score_panels(const ScoreTile& tile, const Done& done) {
  const std::int64_t lanes = lanes_of_float(), panel = key_panel_width();
  for (std::int64_t column = 0; column < tile.shape.columns; column += panel) {
    for_row_groups<rows_for(key_vectors)>(tile.shape.rows, [&]<std::int64_t kRows>(std::int64_t first) LOCUS_INLINED {
      const Columns needed = columns_of(tile.shape, first, kRows);
      const bool apart = column >= needed.end || column + panel <= needed.begin;
      const std::int64_t vectors = apart ? 0 : HWY_MIN(key_vectors, (needed.end - column + lanes - 1) / lanes);
      if (vectors > 0) score_vectors<kRows>(tile, first, column, vectors);
      done(first, kRows, column, vectors);
    });
  }
}

inline void score_tile(const ScoreTile& tile) {
  score_panels(tile, [](std::int64_t, std::int64_t, std::int64_t, std::int64_t) LOCUS_INLINED {});
}

// ---- weights

// The weights of a row that sees only columns [begin, end).
HWY_INLINE FloatVec only_visible(FloatVec weights, std::int64_t column, std::int64_t begin, std::int64_t end) {
  const FloatTag d;
  const auto at = hn::Iota(d, static_cast<float>(column));
  const auto seen =
      hn::And(hn::Ge(at, hn::Set(d, static_cast<float>(begin))), hn::Lt(at, hn::Set(d, static_cast<float>(end))));
  return hn::IfThenElseZero(seen, weights);
}

// For a group of rows whose scores of one panel are in the L1 cache:
//   scores[i][c] = exp2(scores[i][c] - reference[i]) of the visible c, else 0;  partial[i][lane] += those of the lane;
// The vectors that were not computed become 0: the product with values groups the rows in its own way and may read
// them.
// Not inlined, so that the constants of 2^x leave the registers to the product.
inline HWY_NOINLINE void weigh_panel(const WeightedTile& tile, std::int64_t first, std::int64_t rows,
                                     std::int64_t column, std::int64_t vectors, float* partial) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const TileRows& shape = tile.scores.shape;
  for (std::int64_t i = first; i < first + rows; ++i) {
    float* row = tile.scores.scores + i * tile.scores.stride + column;
    const auto reference = hn::Set(d, tile.reference[i]);
    const std::int64_t begin = shape.begin == nullptr ? 0 : shape.begin[i];
    const std::int64_t end = shape.begin == nullptr ? shape.columns : shape.end[i];
    auto total = hn::Load(d, partial + i * lanes);
    if (HWY_LIKELY(begin <= column && end >= column + key_panel_width())) {
      unrolled<key_vectors>([&](auto v) LOCUS_INLINED {
        const auto weights = exp2_of(hn::Sub(hn::Load(d, row + v * lanes), reference));
        hn::Store(weights, d, row + v * lanes);
        total = hn::Add(total, weights);
      });
    } else {
      for (std::int64_t v = 0; v < vectors; ++v) {
        const auto all = exp2_of(hn::Sub(hn::Load(d, row + v * lanes), reference));
        const auto weights = only_visible(all, column + v * lanes, begin, end);
        hn::Store(weights, d, row + v * lanes);
        total = hn::Add(total, weights);
      }
      for (std::int64_t v = vectors; v < key_vectors; ++v) hn::Store(hn::Zero(d), d, row + v * lanes);
    }
    hn::Store(total, d, partial + i * lanes);
  }
}

inline void weighted_tile(const WeightedTile& tile) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float(), rows = tile.scores.shape.rows;
  HWY_ALIGN float partial[most_weighted_rows * hn::MaxLanes(FloatTag())];
  for (std::int64_t i = 0; i < rows; ++i) hn::Store(hn::Zero(d), d, partial + i * lanes);
  const auto weigh = [&](std::int64_t first, std::int64_t count, std::int64_t column, std::int64_t vectors)
                         LOCUS_INLINED { weigh_panel(tile, first, count, column, vectors, partial); };
  score_panels(tile.scores, weigh);
  for (std::int64_t i = 0; i < rows; ++i) {
    tile.total[i] += static_cast<double>(hn::GetLane(hn::SumOfLanes(d, hn::Load(d, partial + i * lanes))));
  }
}

// ---- values

//   for (i < kRows) for (j < panel)
//     output[i][j] = output[i][j] * rescale[i] + sum over c < depth of weights[i][c] * values[c][j];
// With kTransposed, weights[c][i].
template <bool kTransposed, std::int64_t kRows, std::int64_t kVectors>
HWY_INLINE void value_panel(const LeftRows& weights, const float* values, const float* rescale, float* output,
                            std::int64_t stride) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  Sums<kRows, kVectors> sums;
  unrolled<kRows>([&](auto row) LOCUS_INLINED {
    const auto times = hn::Set(d, rescale == nullptr ? 1.0f : rescale[row]);
    unrolled<kVectors>([&](auto v) LOCUS_INLINED {
      sums.at[row][v] = hn::Mul(hn::Load(d, output + row * stride + v * lanes), times);
    });
  });
  multiply_panel<kTransposed>(weights, values, kVectors * lanes, sums);
  unrolled<kRows>([&](auto row) LOCUS_INLINED {
    unrolled<kVectors>([&](auto v) LOCUS_INLINED { hn::Store(sums.at[row][v], d, output + row * stride + v * lanes); });
  });
}

template <std::int64_t kVectors>
void value_tile(const ValueTile& tile) {
  const std::int64_t panel = kVectors * lanes_of_float();
  for (std::int64_t column = 0; column < tile.dim; column += panel) {
    const float* values = tile.values + column / panel * tile.panel_stride;
    for_row_groups<rows_for(kVectors)>(tile.shape.rows, [&]<std::int64_t kRows>(std::int64_t first) LOCUS_INLINED {
      const Columns needed = columns_of(tile.shape, first, kRows);
      if (needed.begin >= needed.end) return;  // no new weights, so rescale is 1
      const LeftRows weights{tile.weights + first * tile.stride + needed.begin, tile.stride, needed.end - needed.begin};
      value_panel<false, kRows, kVectors>(weights, values + needed.begin * panel,
                                          tile.rescale == nullptr ? nullptr : tile.rescale + first,
                                          tile.output + first * tile.dim + column, tile.dim);
    });
  }
}

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

//   for (c < columns) for (j < dim) output[c][j] += sum over i < rows of weights[i][c] * values[i][j];
template <std::int64_t kVectors>
void transposed_tile(const TransposedTile& tile) {
  const std::int64_t panel = kVectors * lanes_of_float();
  for_row_groups<rows_for(kVectors)>(tile.shape.columns, [&]<std::int64_t kColumns>(std::int64_t first) LOCUS_INLINED {
    const RowRange rows = rows_of(tile.shape, first, first + kColumns);
    if (rows.begin >= rows.end) return;
    const LeftRows weights{tile.weights + rows.begin * tile.stride + first, tile.stride, rows.end - rows.begin};
    for (std::int64_t column = 0; column < tile.dim; column += panel) {
      const float* values = tile.values + column / panel * tile.panel_stride + rows.begin * panel;
      value_panel<true, kColumns, kVectors>(weights, values, nullptr, tile.output + first * tile.dim + column,
                                            tile.dim);
    }
  });
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
