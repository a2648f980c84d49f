// SPDX-License-Identifier: Apache-2.0
// Stored rows, packed for the products of attention, and back, for one SIMD target.

#if defined(LOCUS_KERNELS_ATTEND_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ATTEND_PACK_INL_H_
#undef LOCUS_KERNELS_ATTEND_PACK_INL_H_
#else
#define LOCUS_KERNELS_ATTEND_PACK_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/attend_simd.h"
#include "kernels/attend_vectors-inl.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {

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
    for (std::int64_t j = 0; j < dim; ++j) to[j * key_panel_width() + t] = widen_one(row + t * stride + j);
  }
}

#else

// Four keys become four columns of the panel, by transposing 4 x 4 squares:
//   for (t < 4) for (j < dim) to[j * panel + t] = float(row[t * stride + j]);
template <class T>
HWY_INLINE void pack_four(const T* row, std::int64_t stride, std::int64_t dim, float* to) {
  const hn::CappedTag<float, 4> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const std::int64_t panel = key_panel_width();
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
  const std::int64_t panel = key_panel_width();
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
void pack_values(const StoredRows& from, std::int64_t panel, float* to, std::int64_t panel_stride) {
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

//   for (t < rows) to[t] = sum over j < dim of float(from[t][j])^2;
template <class T>
void squares(const StoredRows& from, float* to) {
  const FloatTag d;
  const std::int64_t lanes = lanes_of_float();
  const T* row = static_cast<const T*>(from.data);
  for (std::int64_t t = 0; t < from.rows; ++t, row += from.stride) {
    auto s0 = hn::Zero(d), s1 = s0;
    std::int64_t j = 0;
    for (; j + 2 * lanes <= from.dim; j += 2 * lanes) {
      const auto x0 = load(d, row + j), x1 = load(d, row + j + lanes);
      s0 = hn::MulAdd(x0, x0, s0);
      s1 = hn::MulAdd(x1, x1, s1);
    }
    for (; j + lanes <= from.dim; j += lanes) {
      const auto x = load(d, row + j);
      s0 = hn::MulAdd(x, x, s0);
    }
    float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
    for (; j < from.dim; ++j) {
      const float x = widen_one(row + j);
      sum += x * x;
    }
    to[t] = sum;
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
