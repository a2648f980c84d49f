// SPDX-License-Identifier: Apache-2.0
// Compiles the addition of a row for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/add_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "kernels/add_simd.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace {

//   for (j < dim) values[j] = round(float(values[j]) + row[j]);
template <class T>
void add_row_of(const float* row, std::size_t dim, T* values) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= dim; j += hn::Lanes(d)) {
    store(d, hn::Add(load(d, values + j), hn::LoadU(d, row + j)), values + j);
  }
  for (; j < dim; ++j) store(one, hn::Add(load(one, values + j), hn::LoadU(one, row + j)), values + j);
}

}  // namespace

void add_row_here(ElementType type, const float* row, std::size_t dim, void* values) {
  if (type == ElementType::bfloat16) return add_row_of(row, dim, static_cast<BFloat16*>(values));
  if (type == ElementType::float16) return add_row_of(row, dim, static_cast<Float16*>(values));
  add_row_of(row, dim, static_cast<float*>(values));
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(add_row_here);

void add_row(ElementType type, const float* row, std::size_t dim, void* values) {
  HWY_DYNAMIC_DISPATCH(add_row_here)(type, row, dim, values);
}

}  // namespace locus
#endif
