// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "machine_limits.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "machine_limits.h"

HWY_BEFORE_NAMESPACE();
namespace locus::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void scale_linear_here(float* values, std::size_t count, float factor) {
  const hn::ScalableTag<float> d;
  const auto k = hn::Set(d, factor);
  const std::size_t n = hn::Lanes(d);
  for (std::size_t i = 0; i + 4 * n <= count; i += 4 * n) {
    hn::StoreU(hn::Mul(hn::LoadU(d, values + i), k), d, values + i);
    hn::StoreU(hn::Mul(hn::LoadU(d, values + i + n), k), d, values + i + n);
    hn::StoreU(hn::Mul(hn::LoadU(d, values + i + 2 * n), k), d, values + i + 2 * n);
    hn::StoreU(hn::Mul(hn::LoadU(d, values + i + 3 * n), k), d, values + i + 3 * n);
  }
}

void scale_two_streams_here(float* values, std::size_t count, std::size_t head_dim, float factor) {
  const hn::ScalableTag<float> d;
  const auto k = hn::Set(d, factor);
  const std::size_t n = hn::Lanes(d);
  const std::size_t half = head_dim / 2;
  for (std::size_t head = 0; head < count; head += head_dim) {
    for (std::size_t i = 0; i + n <= half; i += n) {
      float* x = values + head + i;
      float* y = x + half;
      const auto a = hn::LoadU(d, x);
      const auto b = hn::LoadU(d, y);
      hn::StoreU(hn::Mul(a, k), d, x);
      hn::StoreU(hn::Mul(b, k), d, y);
    }
  }
}

void write_stream_here(float* values, std::size_t count, float value) {
  const hn::ScalableTag<float> d;
  const auto v = hn::Set(d, value);
  for (std::size_t i = 0; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) hn::StoreU(v, d, values + i);
}

void add_repeated_row_here(float* values, std::size_t count, const float* row, std::size_t dim) {
  const hn::ScalableTag<float> d;
  for (std::size_t start = 0; start < count; start += dim) {
    for (std::size_t j = 0; j + hn::Lanes(d) <= dim; j += hn::Lanes(d)) {
      hn::StoreU(hn::Add(hn::LoadU(d, values + start + j), hn::LoadU(d, row + j)), d, values + start + j);
    }
  }
}

}  // namespace locus::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus::bench {

HWY_EXPORT(scale_linear_here);
HWY_EXPORT(scale_two_streams_here);
HWY_EXPORT(write_stream_here);
HWY_EXPORT(add_repeated_row_here);

void scale_linear(float* values, std::size_t count, float factor) {
  HWY_DYNAMIC_DISPATCH(scale_linear_here)(values, count, factor);
}
void scale_two_streams(float* values, std::size_t count, std::size_t head_dim, float factor) {
  HWY_DYNAMIC_DISPATCH(scale_two_streams_here)(values, count, head_dim, factor);
}
void write_stream(float* values, std::size_t count, float value) {
  HWY_DYNAMIC_DISPATCH(write_stream_here)(values, count, value);
}
void add_repeated_row(float* values, std::size_t count, const float* row, std::size_t dim) {
  HWY_DYNAMIC_DISPATCH(add_repeated_row_here)(values, count, row, dim);
}

}  // namespace locus::bench
#endif
