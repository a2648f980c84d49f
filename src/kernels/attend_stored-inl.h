// SPDX-License-Identifier: Apache-2.0
// A few queries against stored keys and values, for one SIMD target. Each key and value is read once for all query
// heads that share it.

#if defined(LOCUS_KERNELS_ATTEND_STORED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ATTEND_STORED_INL_H_
#undef LOCUS_KERNELS_ATTEND_STORED_INL_H_
#else
#define LOCUS_KERNELS_ATTEND_STORED_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/attend-inl.h"
#include "kernels/prefetch.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Kernels that stream hardly overlap loading and computing without prefetches; a few lines per step keep the loads from
// waiting for one another.

// Four keys, at any addresses.
template <class T>
struct FourKeys {
  const T *k0, *k1, *k2, *k3;
  const std::byte* ahead;  // null, or as many bytes, contiguous, that are read next
};

// Rows of queries, of scores, of weights or of outputs: row r begins at data + r * stride.
template <class T>
struct RowsOf {
  T* data;
  std::int64_t stride;
};

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

constexpr std::int64_t query_rows_at_once = 1;

//   for (j < dim) sum += query[j] * float(key[j]);
template <class T>
HWY_INLINE float dot_with(const float* query, const T* key, std::int64_t dim) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  auto s0 = hn::Zero(d), s1 = hn::Zero(d);
  std::int64_t j = 0;
  for (; j + 2 * lanes <= dim; j += 2 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, query + j), load(d, key + j), s0);
    s1 = hn::MulAdd(hn::LoadU(d, query + j + lanes), load(d, key + j + lanes), s1);
  }
  for (; j + lanes <= dim; j += lanes) s0 = hn::MulAdd(hn::LoadU(d, query + j), load(d, key + j), s0);
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; j < dim; ++j) sum += query[j] * widen_one(key + j);
  return sum;
}

template <std::int64_t kRows, bool kAhead, class T>
HWY_INLINE void dots_of_four(const RowsOf<const float>& query, const FourKeys<T>& keys, std::int64_t dim,
                             const RowsOf<float>& sums) {
  if (kAhead) prefetch_bytes(keys.ahead, 4 * dim * static_cast<std::int64_t>(sizeof(T)));
  for (std::int64_t r = 0; r < kRows; ++r) {
    const float* row = query.data + r * query.stride;
    float* to = sums.data + r * sums.stride;
    to[0] = dot_with(row, keys.k0, dim);
    to[1] = dot_with(row, keys.k1, dim);
    to[2] = dot_with(row, keys.k2, dim);
    to[3] = dot_with(row, keys.k3, dim);
  }
}

#else

// As many rows as the registers hold sums of with four keys.
constexpr std::int64_t query_rows_at_once = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64 ? 4 : 2;

// The sum of a vector's blocks of four lanes.
template <class D>
HWY_INLINE hn::Vec<hn::CappedTag<float, 4> > sum_of_blocks(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return sum_of_blocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// sums[t] = the sum of the lanes of s_t, by one transposition.
HWY_INLINE void store_sums(FloatVec s0, FloatVec s1, FloatVec s2, FloatVec s3, float* sums) {
  const FloatTag d;
  const hn::RepartitionToWide<FloatTag> wide;
  const auto s01 = hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, s0, s1), hn::InterleaveUpper(d, s0, s1)));
  const auto s23 = hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, s2, s3), hn::InterleaveUpper(d, s2, s3)));
  const auto all =
      hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, s01, s23)), hn::BitCast(d, hn::InterleaveUpper(wide, s01, s23)));
  hn::StoreU(sum_of_blocks(d, all), hn::CappedTag<float, 4>(), sums);
}

//   for (r < kRows) for (t < 4) sums[r][t] = sum over j < dim of query[r][j] * float(keys[t][j]);
// Four keys are loaded once for all rows. A sum has one chain of additions per lane, whatever it is computed with.
template <std::int64_t kRows, bool kAhead, class T>
HWY_INLINE void dots_of_four(const RowsOf<const float>& query, const FourKeys<T>& keys, std::int64_t dim,
                             const RowsOf<float>& sums) {
  const FloatTag d;
  constexpr auto size = static_cast<std::int64_t>(sizeof(T));
  const std::int64_t lanes = lanes_of_float();
  const T *k0 = keys.k0, *k1 = keys.k1, *k2 = keys.k2, *k3 = keys.k3;
  FloatVec sum[kRows][4];
  for (auto& row : sum) {
    for (FloatVec& one : row) one = hn::Zero(d);
  }
  std::int64_t j = 0;
  for (; j + lanes <= dim; j += lanes) {
    const auto v0 = loaded_once(load(d, k0 + j)), v1 = loaded_once(load(d, k1 + j));
    const auto v2 = loaded_once(load(d, k2 + j)), v3 = loaded_once(load(d, k3 + j));
    if constexpr (kAhead) prefetch_bytes(keys.ahead + 4 * j * size, 4 * lanes * size);
    for (std::int64_t r = 0; r < kRows; ++r) {
      const auto q = hn::LoadU(d, query.data + r * query.stride + j);
      sum[r][0] = hn::MulAdd(q, v0, sum[r][0]);
      sum[r][1] = hn::MulAdd(q, v1, sum[r][1]);
      sum[r][2] = hn::MulAdd(q, v2, sum[r][2]);
      sum[r][3] = hn::MulAdd(q, v3, sum[r][3]);
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) {
    store_sums(sum[r][0], sum[r][1], sum[r][2], sum[r][3], sums.data + r * sums.stride);
  }
  for (; j < dim; ++j) {
    for (std::int64_t r = 0; r < kRows; ++r) {
      const float q = query.data[r * query.stride + j];
      float* to = sums.data + r * sums.stride;
      to[0] += q * widen_one(k0 + j);
      to[1] += q * widen_one(k1 + j);
      to[2] += q * widen_one(k2 + j);
      to[3] += q * widen_one(k3 + j);
    }
  }
}

#endif

// Calls work.template operator()<kRows>(first) for all rows, query_rows_at_once at a time.
template <class Work>
HWY_INLINE void for_row_blocks(std::int64_t rows, const Work& work) {
  std::int64_t r = 0;
  for (; r + query_rows_at_once <= rows; r += query_rows_at_once) work.template operator()<query_rows_at_once>(r);
  if constexpr (query_rows_at_once > 1) {
    const std::int64_t rest = rows - r;
    if (rest == 1) work.template operator()<1>(r);
    if constexpr (query_rows_at_once > 2) {
      if (rest == 2) work.template operator()<2>(r);
      if (rest == 3) work.template operator()<3>(r);
    }
  }
}

//   for (r < rows) for (t < keys.rows) scores[r][t] = sum over j < dim of query[r][j] * float(key[t][j]);
// The last keys, fewer than four, are computed as four of which some repeat: a score has the same bits wherever its
// key is in the block.
template <class T>
void stored_scores(const StoredRows& keys, const float* query, std::int64_t query_stride, std::int64_t rows,
                   float* scores, std::int64_t stride) {
  const T* key = static_cast<const T*>(keys.data);
  const std::byte* ahead = keys.ahead;
  std::int64_t t = 0;
  for (; t + 4 <= keys.rows; t += 4, key += 4 * keys.stride) {
    const FourKeys<T> four{key, key + keys.stride, key + 2 * keys.stride, key + 3 * keys.stride, ahead};
    for_row_blocks(rows, [&]<std::int64_t kRows>(std::int64_t r) {
      const RowsOf<const float> own{query + r * query_stride, query_stride};
      const RowsOf<float> to{scores + r * stride + t, stride};
      r == 0 && ahead != nullptr ? dots_of_four<kRows, true, T>(own, four, keys.dim, to)
                                 : dots_of_four<kRows, false, T>(own, four, keys.dim, to);
    });
    if (ahead != nullptr) ahead += 4 * keys.dim * static_cast<std::int64_t>(sizeof(T));
  }
  const std::int64_t rest = keys.rows - t;
  if (rest == 0) return;
  if (ahead != nullptr) prefetch_bytes(ahead, rest * keys.dim * static_cast<std::int64_t>(sizeof(T)));
  const T* last = key + (rest - 1) * keys.stride;
  const FourKeys<T> four{key, rest > 1 ? key + keys.stride : last, last, last, nullptr};
  for (std::int64_t r = 0; r < rows; ++r) {
    float sums[4];
    dots_of_four<1, false, T>({query + r * query_stride, query_stride}, four, keys.dim, {sums, 4});
    for (std::int64_t i = 0; i < rest; ++i) scores[r * stride + t + i] = sums[i];
  }
}

// What stored_values computes for some rows and all keys.
template <class T>
struct ValueSums {
  const T* values;  // from the first coordinate on
  std::int64_t stride, keys;
  RowsOf<const float> weights;
  const float* rescale;
  RowsOf<float> output;
  const std::byte* ahead;  // null, or the same coordinates of the row that is read next in place of the first
  std::int64_t row_bytes;
};

//   for (r < kRows) for (j < kVectors vectors)
//     output[r][j] = output[r][j] * rescale[r] + sum over t < keys of weights[r][t] * float(value[t][j]);
// The sums stay in registers; a value is loaded once for all rows.
template <std::int64_t kRows, std::int64_t kVectors, bool kAhead, class D, class T>
HWY_INLINE void sum_values(D d, const ValueSums<T>& all) {
  const auto n = static_cast<std::int64_t>(hn::Lanes(d));
#if HWY_HAVE_SCALABLE
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t i = 0; i < kVectors; ++i) {
      float* to = all.output.data + r * all.output.stride + i * n;
      auto sum = hn::Mul(hn::LoadU(d, to), hn::Set(d, all.rescale[r]));
      const T* value = all.values + i * n;
      for (std::int64_t t = 0; t < all.keys; ++t, value += all.stride) {
        sum = hn::MulAdd(hn::Set(d, all.weights.data[r * all.weights.stride + t]), load(d, value), sum);
      }
      hn::StoreU(sum, d, to);
    }
  }
#else
  hn::Vec<D> sum[kRows][kVectors];
  for (std::int64_t r = 0; r < kRows; ++r) {
    const auto times = hn::Set(d, all.rescale[r]);
    for (std::int64_t i = 0; i < kVectors; ++i) {
      sum[r][i] = hn::Mul(hn::LoadU(d, all.output.data + r * all.output.stride + i * n), times);
    }
  }
  const T* value = all.values;
  for (std::int64_t t = 0; t < all.keys; ++t, value += all.stride) {
    if constexpr (kAhead) {
      prefetch_bytes(all.ahead + t * all.row_bytes, kVectors * n * static_cast<std::int64_t>(sizeof(T)));
    }
    hn::Vec<D> v[kVectors];
    for (std::int64_t i = 0; i < kVectors; ++i) v[i] = loaded_once(load(d, value + i * n));
    for (std::int64_t r = 0; r < kRows; ++r) {
      const auto w = hn::Set(d, all.weights.data[r * all.weights.stride + t]);
      for (std::int64_t i = 0; i < kVectors; ++i) sum[r][i] = hn::MulAdd(w, v[i], sum[r][i]);
    }
  }
  for (std::int64_t r = 0; r < kRows; ++r) {
    for (std::int64_t i = 0; i < kVectors; ++i) {
      hn::StoreU(sum[r][i], d, all.output.data + r * all.output.stride + i * n);
    }
  }
#endif
}

//   for (r < rows) for (j < dim)
//     output[r][j] = output[r][j] * rescale[r] + sum over t < values.rows of weights[r][t] * float(value[t][j]);
template <class T>
void stored_values(const StoredRows& values, const WeightRows& all, const float* rescale, float* output,
                   std::int64_t output_stride) {
  const std::int64_t lanes = lanes_of_float();
  for_row_blocks(all.rows, [&]<std::int64_t kRows>(std::int64_t r) {
    constexpr std::int64_t vectors = kRows > query_rows_at_once / 2 ? 4 : 8;
    constexpr auto size = static_cast<std::int64_t>(sizeof(T));
    const bool first = r == 0 && values.ahead != nullptr;
    const auto from = [&](std::int64_t j) {
      return ValueSums<T>{
          static_cast<const T*>(values.data) + j,    values.stride,    values.rows,
          {all.data + r * all.stride, all.stride},   rescale + r,      {output + r * output_stride + j, output_stride},
          first ? values.ahead + j * size : nullptr, values.dim * size};
    };
    std::int64_t j = 0;
    for (; j + vectors * lanes <= values.dim; j += vectors * lanes) {
      first ? sum_values<kRows, vectors, true>(FloatTag(), from(j))
            : sum_values<kRows, vectors, false>(FloatTag(), from(j));
    }
    for (; j + lanes <= values.dim; j += lanes) sum_values<kRows, 1, false>(FloatTag(), from(j));
    for (; j < values.dim; ++j) sum_values<kRows, 1, false>(hn::CappedTag<float, 1>(), from(j));
  });
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
