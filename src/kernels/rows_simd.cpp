// SPDX-License-Identifier: Apache-2.0
// Compiles the rows for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rows_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "kernels/rows-inl.h"
#include "kernels/rows_simd.h"

#if HWY_ONCE
namespace locus {

HWY_EXPORT(phases_to_cos_sin_here);
HWY_EXPORT(combine_rows_here);
HWY_EXPORT(interleave_here);

void phases_to_cos_sin(const std::uint64_t* phases, std::size_t count, double magnitude, double* cos, double* sin) {
  HWY_DYNAMIC_DISPATCH(phases_to_cos_sin_here)(phases, count, magnitude, cos, sin);
}

void combine_rows(const double* anchor, const double* steps, std::size_t width, std::size_t rows, float* cos,
                  float* sin, std::size_t stride) {
  HWY_DYNAMIC_DISPATCH(combine_rows_here)(anchor, steps, width, rows, cos, sin, stride);
}

void interleave(const float* first, const float* second, std::size_t count, float* out) {
  HWY_DYNAMIC_DISPATCH(interleave_here)(first, second, count, out);
}

}  // namespace locus
#endif
