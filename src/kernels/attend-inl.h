// SPDX-License-Identifier: Apache-2.0
// Tiles of attention for one SIMD target: scores, online softmax, weighted values.
//
// Both products are register-blocked: 6 rows x 2 vectors of accumulators, one broadcast and two fused multiply-adds
// per row and step. A panel of keys (or of values) stays in the L1 cache while the rows are processed.

#if defined(LOCUS_KERNELS_ATTEND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ATTEND_INL_H_
#undef LOCUS_KERNELS_ATTEND_INL_H_
#else
#define LOCUS_KERNELS_ATTEND_INL_H_
#endif

#include <limits>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "kernels/attend_simd.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

inline std::int64_t lanes_of_float() { return static_cast<std::int64_t>(hn::Lanes(FloatTag())); }
inline std::int64_t panel_width() { return 2 * lanes_of_float(); }

constexpr std::int64_t rows_at_once = 6;

// 2^x for x <= 0, within 2 ulp; 0 below 2^-125; NaN stays NaN. Splits x = n + f with |f| <= 1/2 by adding 1.5 * 2^23,
// whose last bits are then n. A polynomial of degree 5, exact at 0, gives 2^f (relative error 9e-8 before rounding);
// n is added to the exponent.
HWY_INLINE FloatVec exp2_of_negative(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto magic = hn::Set(d, 12582912.0f);
  const auto shifted = hn::Add(x, magic);
  const auto f = hn::Sub(x, hn::Sub(shifted, magic));
  auto p = hn::Set(d, 1.326508289221385e-3f);
  p = hn::MulAdd(p, f, hn::Set(d, 9.671252557517399e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 5.550730552387481e-2f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.402224604524016e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 6.931469805734646e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  const auto bits = hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -125.0f)), hn::BitCast(d, bits));
}

// ---- packing

template <class T>
HWY_INLINE float widen_one(const T* from) {
  return hn::GetLane(load(hn::CappedTag<float, 1>(), from));
}

//   for (i < count) to[i] = float(from[i]) * factor;
template <class T>
HWY_INLINE void widen_row(const T* from, std::int64_t count, float factor, float* to) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const auto times = hn::Set(d, factor);
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) hn::StoreU(hn::Mul(load(d, from + i), times), d, to + i);
  for (; i < count; ++i) to[i] = widen_one(from + i) * factor;
}

template <class T>
void widen_rows(const StoredRows& from, float factor, float* to, std::int64_t to_stride) {
  const T* row = static_cast<const T*>(from.data);
  for (std::int64_t t = 0; t < from.rows; ++t) widen_row(row + t * from.stride, from.dim, factor, to + t * to_stride);
}

#if HWY_TARGET == HWY_SCALAR

template <class T>
HWY_INLINE void pack_four(const T* row, std::int64_t stride, std::int64_t dim, float* to) {
  for (std::int64_t t = 0; t < 4; ++t) {
    for (std::int64_t j = 0; j < dim; ++j) to[j * panel_width() + t] = widen_one(row + t * stride + j);
  }
}

#else

// Four keys become four columns of the panel, by transposing 4 x 4 squares:
//   for (t < 4) for (j < dim) to[j * panel + t] = float(row[t * stride + j]);
template <class T>
HWY_INLINE void pack_four(const T* row, std::int64_t stride, std::int64_t dim, float* to) {
  const hn::CappedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const std::int64_t panel = panel_width();
  std::int64_t j = 0;
  for (; j + 4 <= dim; j += 4) {
    const auto a = load(d, row + j), b = load(d, row + stride + j);
    const auto c = load(d, row + 2 * stride + j), e = load(d, row + 3 * stride + j);
    const auto ab = hn::BitCast(wide, hn::InterleaveLower(d, a, b)),
               AB = hn::BitCast(wide, hn::InterleaveUpper(d, a, b));
    const auto ce = hn::BitCast(wide, hn::InterleaveLower(d, c, e)),
               CE = hn::BitCast(wide, hn::InterleaveUpper(d, c, e));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, ab, ce)), d, to + j * panel);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, ab, ce)), d, to + (j + 1) * panel);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(wide, AB, CE)), d, to + (j + 2) * panel);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(wide, AB, CE)), d, to + (j + 3) * panel);
  }
  for (; j < dim; ++j) {
    for (std::int64_t t = 0; t < 4; ++t) to[j * panel + t] = widen_one(row + t * stride + j);
  }
}

#endif

//   for (t < rows) for (j < dim) to[t / panel][j][t % panel] = float(from[t][j]);   zeros up to a whole panel
template <class T>
void pack_keys(const StoredRows& from, float* to) {
  const std::int64_t panel = panel_width();
  const T* data = static_cast<const T*>(from.data);
  for (std::int64_t first = 0; first < from.rows; first += panel, to += panel * from.dim) {
    const std::int64_t count = HWY_MIN(panel, from.rows - first);
    std::int64_t t = 0;
    if (panel % 4 == 0) {
      for (; t + 4 <= count; t += 4) pack_four(data + (first + t) * from.stride, from.stride, from.dim, to + t);
    }
    for (; t < panel; ++t) {
      const T* row = data + (first + t) * from.stride;
      for (std::int64_t j = 0; j < from.dim; ++j) to[j * panel + t] = t < count ? widen_one(row + j) : 0.0f;
    }
  }
}

//   for (t < rows) for (j < dim) to[j / panel][t][j % panel] = float(from[t][j]);   zeros up to a whole panel
template <class T>
void pack_values(const StoredRows& from, float* to, std::int64_t panel_stride) {
  const std::int64_t panel = panel_width();
  const T* data = static_cast<const T*>(from.data);
  for (std::int64_t first = 0; first < from.dim; first += panel, to += panel_stride) {
    const std::int64_t count = HWY_MIN(panel, from.dim - first);
    for (std::int64_t t = 0; t < from.rows; ++t) {
      widen_row(data + t * from.stride + first, count, 1.0f, to + t * panel);
      for (std::int64_t j = count; j < panel; ++j) to[t * panel + j] = 0;
    }
  }
}

//   for (i < dim) to[i] = T(from[i] * factor);
template <class T>
void store_row(const float* from, float factor, std::int64_t dim, void* to) {
  const FloatTag d;
  const hn::CappedTag<float, 1> one;
  const std::int64_t lanes = lanes_of_float();
  T* out = static_cast<T*>(to);
  std::int64_t i = 0;
  for (; i + lanes <= dim; i += lanes) store(d, hn::Mul(hn::LoadU(d, from + i), hn::Set(d, factor)), out + i);
  for (; i < dim; ++i) store(one, hn::Set(one, from[i] * factor), out + i);
}

// ---- the products of a tile

// The accumulators of up to six rows. They are separate members because arrays cannot hold vectors of unknown size.
struct Accumulators {
  FloatVec a0, a1, b0, b1, c0, c1, d0, d1, e0, e1, f0, f1;
};

// Calls visit(row, first vector, second vector) for every row in use.
#define LOCUS_FOR_ROWS(acc, visit)                   \
  visit(0, acc.a0, acc.a1);                          \
  if constexpr (kRows > 1) visit(1, acc.b0, acc.b1); \
  if constexpr (kRows > 2) visit(2, acc.c0, acc.c1); \
  if constexpr (kRows > 3) visit(3, acc.d0, acc.d1); \
  if constexpr (kRows > 4) visit(4, acc.e0, acc.e1); \
  if constexpr (kRows > 5) visit(5, acc.f0, acc.f1)

// The rows on the left of a product: element p < depth of a row is at data[row * stride + p].
struct LeftRows {
  const float* data;
  std::int64_t stride;
  std::int64_t depth;
};

// acc += left[row][p] * right[p], over p < depth.
template <std::int64_t kRows>
HWY_INLINE void multiply_panel(const LeftRows& rows, const float* HWY_RESTRICT right, Accumulators& acc) {
  const float* HWY_RESTRICT left = rows.data;
  const std::int64_t left_stride = rows.stride, depth = rows.depth;
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  for (std::int64_t p = 0; p < depth; ++p, right += 2 * lanes) {
    const auto r0 = hn::Load(d, right);
    const auto r1 = hn::Load(d, right + lanes);
#define LOCUS_STEP(row, x0, x1)                             \
  do {                                                      \
    const auto x = hn::Set(d, left[(row)*left_stride + p]); \
    x0 = hn::MulAdd(x, r0, x0);                             \
    x1 = hn::MulAdd(x, r1, x1);                             \
  } while (0)
    LOCUS_FOR_ROWS(acc, LOCUS_STEP);
#undef LOCUS_STEP
  }
}

//   for (i < kRows) for (c < panel) scores[i][c] = sum over p < dim of query[i][p] * keys[p][c], plus bias[c - i];
template <std::int64_t kRows, bool kBias>
void score_panel(const LeftRows& query, const float* keys, const float* bias, float* scores, std::int64_t stride) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const auto zero = hn::Zero(d);
  Accumulators acc{zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero};
  multiply_panel<kRows>(query, keys, acc);
#define LOCUS_STORE(row, x0, x1)                            \
  do {                                                      \
    if constexpr (kBias) {                                  \
      x0 = hn::Add(x0, hn::LoadU(d, bias - (row)));         \
      x1 = hn::Add(x1, hn::LoadU(d, bias - (row) + lanes)); \
    }                                                       \
    hn::Store(x0, d, scores + (row)*stride);                \
    hn::Store(x1, d, scores + (row)*stride + lanes);        \
  } while (0)
  LOCUS_FOR_ROWS(acc, LOCUS_STORE);
#undef LOCUS_STORE
}

//   for (i < kRows) for (j < panel)
//     output[i][j] = output[i][j] * rescale[i] + sum over c < depth of weights[i][c] * values[c][j];
template <std::int64_t kRows>
void value_panel(const LeftRows& weights, const float* values, const float* rescale, float* output,
                 std::int64_t output_stride) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const auto zero = hn::Zero(d);
  Accumulators acc{zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero, zero};
#define LOCUS_LOAD(row, x0, x1)                                              \
  do {                                                                       \
    const auto times = hn::Set(d, rescale == nullptr ? 1.0f : rescale[row]); \
    x0 = hn::Mul(hn::Load(d, output + (row)*output_stride), times);          \
    x1 = hn::Mul(hn::Load(d, output + (row)*output_stride + lanes), times);  \
  } while (0)
  LOCUS_FOR_ROWS(acc, LOCUS_LOAD);
#undef LOCUS_LOAD
  multiply_panel<kRows>(weights, values, acc);
#define LOCUS_STORE(row, x0, x1)                            \
  do {                                                      \
    hn::Store(x0, d, output + (row)*output_stride);         \
    hn::Store(x1, d, output + (row)*output_stride + lanes); \
  } while (0)
  LOCUS_FOR_ROWS(acc, LOCUS_STORE);
#undef LOCUS_STORE
}
#undef LOCUS_FOR_ROWS

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

template <bool kBias>
void score_tile_as(const ScoreTile& tile) {
  const std::int64_t panel = panel_width();
  for (std::int64_t column = 0; column < tile.shape.columns; column += panel) {
    const float* keys = tile.keys + column * tile.dim;
    for (std::int64_t first = 0; first < tile.shape.rows; first += rows_at_once) {
      const std::int64_t count = HWY_MIN(rows_at_once, tile.shape.rows - first);
      const Columns needed = columns_of(tile.shape, first, count);
      if (column >= needed.end || column + panel <= needed.begin) continue;
      const LeftRows query{tile.query + first * tile.query_stride, tile.query_stride, tile.dim};
      const float* bias = kBias ? tile.bias + column - first : nullptr;
      float* scores = tile.scores + first * tile.stride + column;
      const auto run = count == 6   ? score_panel<6, kBias>
                       : count == 5 ? score_panel<5, kBias>
                       : count == 4 ? score_panel<4, kBias>
                       : count == 3 ? score_panel<3, kBias>
                       : count == 2 ? score_panel<2, kBias>
                                    : score_panel<1, kBias>;
      run(query, keys, bias, scores, tile.stride);
    }
  }
}

inline void score_tile(const ScoreTile& tile) {
  return tile.bias != nullptr ? score_tile_as<true>(tile) : score_tile_as<false>(tile);
}

inline void value_tile(const ValueTile& tile) {
  const std::int64_t panel = panel_width();
  for (std::int64_t column = 0; column < tile.dim; column += panel) {
    const float* values = tile.values + column / panel * tile.panel_stride;
    for (std::int64_t first = 0; first < tile.shape.rows; first += rows_at_once) {
      const std::int64_t count = HWY_MIN(rows_at_once, tile.shape.rows - first);
      const Columns needed = columns_of(tile.shape, first, count);
      if (needed.begin >= needed.end) continue;  // no new weights, so rescale is 1
      const LeftRows weights{tile.weights + first * tile.stride + needed.begin, tile.stride, needed.end - needed.begin};
      const float* rescale = tile.rescale == nullptr ? nullptr : tile.rescale + first;
      float* output = tile.output + first * tile.dim + column;
      const auto run = count == 6   ? value_panel<6>
                       : count == 5 ? value_panel<5>
                       : count == 4 ? value_panel<4>
                       : count == 3 ? value_panel<3>
                       : count == 2 ? value_panel<2>
                                    : value_panel<1>;
      run(weights, values + needed.begin * panel, rescale, output, tile.dim);
    }
  }
}

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
    const auto w0 = exp2_of_negative(hn::Sub(hn::LoadU(d, row + c), tops));
    const auto w1 = exp2_of_negative(hn::Sub(hn::LoadU(d, row + c + lanes), tops));
    hn::StoreU(w0, d, row + c);
    hn::StoreU(w1, d, row + c + lanes);
    sum0 = hn::Add(sum0, w0);
    sum1 = hn::Add(sum1, w1);
  }
  for (; c < count; c += lanes) {
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(HWY_MIN(lanes, count - c)));
    const auto w = hn::IfThenElseZero(inside, exp2_of_negative(hn::Sub(hn::LoadU(d, row + c), tops)));
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
    tile.rescale[i] = after == before ? 1.0f : hn::GetLane(exp2_of_negative(hn::Set(d, before - after)));
  }
  for (std::int64_t first = 0; first < shape.rows; first += rows_at_once) {
    const std::int64_t count = HWY_MIN(rows_at_once, shape.rows - first);
    const Columns needed = columns_of(shape, first, count);
    for (std::int64_t i = first; i < first + count; ++i) {
      float* row = tile.scores + i * tile.stride;
      const std::int64_t begin = HWY_MIN(begin_of(i), end_of(i)), end = end_of(i);
      // If no key has been visible so far, any finite top will do: all weights are 0.
      const float sum = weights_of(row + begin, end - begin, tile.top[i] == nothing ? 0.0f : tile.top[i]);
      tile.total[i] = tile.total[i] * static_cast<double>(tile.rescale[i]) + static_cast<double>(sum);
      for (std::int64_t c = needed.begin; c < begin; ++c) row[c] = 0;
      for (std::int64_t c = end; c < needed.end; ++c) row[c] = 0;
    }
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
