// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "machine_limits.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "machine_limits.h"

HWY_BEFORE_NAMESPACE();
namespace locus::bench::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

std::size_t vector_bytes_here() { return hn::Lanes(hn::ScalableTag<float>()) * sizeof(float); }

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

float read_stream_here(const float* values, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t n = hn::Lanes(d);
  auto a = hn::Zero(d);
  auto b = a;
  auto c = a;
  auto e = a;
  for (std::size_t i = 0; i + 4 * n <= count; i += 4 * n) {
    a = hn::Add(a, hn::LoadU(d, values + i));
    b = hn::Add(b, hn::LoadU(d, values + i + n));
    c = hn::Add(c, hn::LoadU(d, values + i + 2 * n));
    e = hn::Add(e, hn::LoadU(d, values + i + 3 * n));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

void highway_row_here(double position, const double* frequencies, std::size_t width, float* row) {
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  for (std::size_t i = 0; i + hn::Lanes(d) <= width; i += hn::Lanes(d)) {
    const auto angle = hn::Mul(hn::Set(d, position), hn::LoadU(d, frequencies + i));
    hn::StoreU(hn::DemoteTo(df, hn::Cos(d, angle)), df, row + i);
    hn::StoreU(hn::DemoteTo(df, hn::Sin(d, angle)), df, row + width + i);
  }
}

// Two FMA units with a latency of 4 or 5 cycles need 8 to 10 independent chains to stay busy; 12 chains and their two
// operands still fit 16 registers. x becomes x * factor + addend, which stays near addend / (1 - factor).
float fma_chains_here(double flops, float factor, float addend) {
  const hn::ScalableTag<float> d;
  const auto k = hn::Set(d, factor);
  const auto t = hn::Set(d, addend);
  constexpr double chains = 12;
  const auto steps = static_cast<std::size_t>(flops / (2 * chains * static_cast<double>(hn::Lanes(d))));
  // The compiler would merge chains with equal initial values.
  const auto start = [&](float i) { return hn::Mul(t, hn::Set(d, i)); };
  auto x0 = start(1), x1 = start(2), x2 = start(3), x3 = start(4), x4 = start(5), x5 = start(6);
  auto x6 = start(7), x7 = start(8), x8 = start(9), x9 = start(10), x10 = start(11), x11 = start(12);
  for (std::size_t step = 0; step < steps; ++step) {
    x0 = hn::MulAdd(x0, k, t);
    x1 = hn::MulAdd(x1, k, t);
    x2 = hn::MulAdd(x2, k, t);
    x3 = hn::MulAdd(x3, k, t);
    x4 = hn::MulAdd(x4, k, t);
    x5 = hn::MulAdd(x5, k, t);
    x6 = hn::MulAdd(x6, k, t);
    x7 = hn::MulAdd(x7, k, t);
    x8 = hn::MulAdd(x8, k, t);
    x9 = hn::MulAdd(x9, k, t);
    x10 = hn::MulAdd(x10, k, t);
    x11 = hn::MulAdd(x11, k, t);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(x0, x1), hn::Add(x2, x3)), hn::Add(hn::Add(x4, x5), hn::Add(x6, x7)));
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, hn::Add(hn::Add(x8, x9), hn::Add(x10, x11)))));
}

}  // namespace locus::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus::bench {

HWY_EXPORT(vector_bytes_here);
HWY_EXPORT(scale_linear_here);
HWY_EXPORT(scale_two_streams_here);
HWY_EXPORT(write_stream_here);
HWY_EXPORT(add_repeated_row_here);
HWY_EXPORT(read_stream_here);
HWY_EXPORT(fma_chains_here);
HWY_EXPORT(highway_row_here);

namespace {
// Results are stored here, so that the compiler does not remove the loops.
volatile float sink;
// Numbers unknown to the compiler.
volatile float half = 0.5f;
}  // namespace

std::size_t vector_bytes() { return HWY_DYNAMIC_DISPATCH(vector_bytes_here)(); }
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
void read_stream(const float* values, std::size_t count) {
  sink = HWY_DYNAMIC_DISPATCH(read_stream_here)(values, count);
}
void highway_row(double position, const double* frequencies, std::size_t width, float* row) {
  HWY_DYNAMIC_DISPATCH(highway_row_here)(position, frequencies, width, row);
}
void fma_chains(double flops) { sink = HWY_DYNAMIC_DISPATCH(fma_chains_here)(flops, half, half); }

}  // namespace locus::bench
#endif
