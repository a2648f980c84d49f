// SPDX-License-Identifier: Apache-2.0
// A few queries against stored keys and values, for one SIMD target. Each key and value is read once for all query
// heads that share it.

#if defined(LOCUS_KERNELS_ATTEND_STORED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ATTEND_STORED_INL_H_
#undef LOCUS_KERNELS_ATTEND_STORED_INL_H_
#else
#define LOCUS_KERNELS_ATTEND_STORED_INL_H_
#endif

#include "hwy/cache_control.h"
#include "hwy/highway.h"
#include "kernels/attend-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Starts to load the rows that correspond to `count` of these rows, from row t on, in what is read next. Kernels that
// stream hardly overlap loading and computing without it.
template <class T>
HWY_INLINE void prefetch_ahead(const StoredRows& rows, std::int64_t t, std::int64_t count) {
  if (rows.ahead == nullptr) return;
  const auto row_bytes = static_cast<std::int64_t>(sizeof(T)) * rows.dim;
  for (std::int64_t line = t * row_bytes; line < (t + count) * row_bytes; line += 64) hwy::Prefetch(rows.ahead + line);
}

// Four keys, at any addresses.
template <class T>
struct FourKeys {
  const T *k0, *k1, *k2, *k3;
};

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE

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

template <class T>
HWY_INLINE void dots_of_four(const float* query, const FourKeys<T>& keys, std::int64_t dim, float* sums) {
  sums[0] = dot_with(query, keys.k0, dim);
  sums[1] = dot_with(query, keys.k1, dim);
  sums[2] = dot_with(query, keys.k2, dim);
  sums[3] = dot_with(query, keys.k3, dim);
}

#else

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

//   for (t < 4) sums[t] = dot_with(query, keys[t], dim);
// Four keys share the loads of the query, and one transposition sums over the lanes of all four.
template <class T>
HWY_INLINE void dots_of_four(const float* query, const FourKeys<T>& keys, std::int64_t dim, float* sums) {
  const FloatTag d;
  const hn::RepartitionToWide<FloatTag> wide;
  const std::int64_t lanes = lanes_of_float();
  const T *k0 = keys.k0, *k1 = keys.k1, *k2 = keys.k2, *k3 = keys.k3;
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  std::int64_t j = 0;
  for (; j + lanes <= dim; j += lanes) {
    const auto q = hn::LoadU(d, query + j);
    s0 = hn::MulAdd(q, load(d, k0 + j), s0);
    s1 = hn::MulAdd(q, load(d, k1 + j), s1);
    s2 = hn::MulAdd(q, load(d, k2 + j), s2);
    s3 = hn::MulAdd(q, load(d, k3 + j), s3);
  }
  const auto s01 = hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, s0, s1), hn::InterleaveUpper(d, s0, s1)));
  const auto s23 = hn::BitCast(wide, hn::Add(hn::InterleaveLower(d, s2, s3), hn::InterleaveUpper(d, s2, s3)));
  const auto all =
      hn::Add(hn::BitCast(d, hn::InterleaveLower(wide, s01, s23)), hn::BitCast(d, hn::InterleaveUpper(wide, s01, s23)));
  hn::StoreU(sum_of_blocks(d, all), hn::CappedTag<float, 4>(), sums);
  for (; j < dim; ++j) {
    sums[0] += query[j] * widen_one(k0 + j);
    sums[1] += query[j] * widen_one(k1 + j);
    sums[2] += query[j] * widen_one(k2 + j);
    sums[3] += query[j] * widen_one(k3 + j);
  }
}

#endif

//   for (r < rows) for (t < keys.rows) scores[r][t] = sum over j < dim of query[r][j] * float(key[t][j]);
// The last keys, fewer than four, are computed as four of which some repeat: a score has the same bits wherever its
// key is in the block.
template <class T>
void stored_scores(const StoredRows& keys, const float* query, std::int64_t query_stride, std::int64_t rows,
                   float* scores, std::int64_t stride) {
  const T* key = static_cast<const T*>(keys.data);
  std::int64_t t = 0;
  for (; t + 4 <= keys.rows; t += 4, key += 4 * keys.stride) {
    const FourKeys<T> four{key, key + keys.stride, key + 2 * keys.stride, key + 3 * keys.stride};
    prefetch_ahead<T>(keys, t, 4);
    for (std::int64_t r = 0; r < rows; ++r) {
      dots_of_four(query + r * query_stride, four, keys.dim, scores + r * stride + t);
    }
  }
  const std::int64_t rest = keys.rows - t;
  if (rest == 0) return;
  prefetch_ahead<T>(keys, t, rest);
  const T* last = key + (rest - 1) * keys.stride;
  const FourKeys<T> four{key, rest > 1 ? key + keys.stride : last, last, last};
  for (std::int64_t r = 0; r < rows; ++r) {
    float sums[4];
    dots_of_four(query + r * query_stride, four, keys.dim, sums);
    for (std::int64_t i = 0; i < rest; ++i) scores[r * stride + t + i] = sums[i];
  }
}

//   for (j < 8 vectors) output[j] = output[j] * rescale + sum over t < rows of weights[t] * float(value[t][j]);
// The sums stay in registers.
template <bool kAhead, class T>
HWY_INLINE void eight_vectors(const T* value, const StoredRows& values, const float* weights, float rescale,
                              float* output) {
  const FloatTag d;
  const std::int64_t n = lanes_of_float();
  const auto times = hn::Set(d, rescale);
  const auto at = [&](std::int64_t i) { return hn::Mul(hn::LoadU(d, output + i * n), times); };
  auto a0 = at(0), a1 = at(1), a2 = at(2), a3 = at(3), a4 = at(4), a5 = at(5), a6 = at(6), a7 = at(7);
  for (std::int64_t t = 0; t < values.rows; ++t, value += values.stride) {
    const auto w = hn::Set(d, weights[t]);
    if constexpr (kAhead) prefetch_ahead<T>(values, t, 1);
    a0 = hn::MulAdd(w, load(d, value), a0);
    a1 = hn::MulAdd(w, load(d, value + n), a1);
    a2 = hn::MulAdd(w, load(d, value + 2 * n), a2);
    a3 = hn::MulAdd(w, load(d, value + 3 * n), a3);
    a4 = hn::MulAdd(w, load(d, value + 4 * n), a4);
    a5 = hn::MulAdd(w, load(d, value + 5 * n), a5);
    a6 = hn::MulAdd(w, load(d, value + 6 * n), a6);
    a7 = hn::MulAdd(w, load(d, value + 7 * n), a7);
  }
  hn::StoreU(a0, d, output);
  hn::StoreU(a1, d, output + n);
  hn::StoreU(a2, d, output + 2 * n);
  hn::StoreU(a3, d, output + 3 * n);
  hn::StoreU(a4, d, output + 4 * n);
  hn::StoreU(a5, d, output + 5 * n);
  hn::StoreU(a6, d, output + 6 * n);
  hn::StoreU(a7, d, output + 7 * n);
}

// The same for one vector of D.
template <class D, class T>
HWY_INLINE void one_vector(D d, const T* value, const StoredRows& values, const float* weights, float rescale,
                           float* output) {
  auto sum = hn::Mul(hn::LoadU(d, output), hn::Set(d, rescale));
  for (std::int64_t t = 0; t < values.rows; ++t, value += values.stride) {
    sum = hn::MulAdd(hn::Set(d, weights[t]), load(d, value), sum);
  }
  hn::StoreU(sum, d, output);
}

//   for (r < rows) for (j < dim)
//     output[r][j] = output[r][j] * rescale[r] + sum over t < values.rows of weights[r][t] * float(value[t][j]);
template <class T>
void stored_values(const StoredRows& values, const WeightRows& all, const float* rescale, float* output,
                   std::int64_t output_stride) {
  const std::int64_t lanes = lanes_of_float();
  const T* data = static_cast<const T*>(values.data);
  const float* weights = all.data;
  for (std::int64_t r = 0; r < all.rows; ++r, weights += all.stride, output += output_stride) {
    std::int64_t j = 0;
    for (; j + 8 * lanes <= values.dim; j += 8 * lanes) {
      if (r == 0 && j == 0 && values.ahead != nullptr) {
        eight_vectors<true>(data, values, weights, rescale[r], output);
      } else {
        eight_vectors<false>(data + j, values, weights, rescale[r], output + j);
      }
    }
    for (; j + lanes <= values.dim; j += lanes) {
      one_vector(FloatTag(), data + j, values, weights, rescale[r], output + j);
    }
    for (; j < values.dim; ++j) {
      one_vector(hn::CappedTag<float, 1>(), data + j, values, weights, rescale[r], output + j);
    }
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
