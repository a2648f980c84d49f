// SPDX-License-Identifier: Apache-2.0
// Compiles the tiles of the backward pass for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attend_backward_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "kernels/attend_backward-inl.h"
#include "kernels/attend_backward_simd.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {

AttendBackwardKernels choose_attend_backward_kernels(std::int64_t head_dim) {
  const std::int64_t vectors = value_vectors(head_dim);
  return {.weights = weight_tile,
          .transposed = vectors == 1   ? transposed_tile<1>
                        : vectors == 2 ? transposed_tile<2>
                        : vectors == 3 ? transposed_tile<3>
                                       : transposed_tile<4>};
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(choose_attend_backward_kernels);

AttendBackwardKernels attend_backward_kernels(std::int64_t head_dim) {
  return HWY_DYNAMIC_DISPATCH(choose_attend_backward_kernels)(head_dim);
}

}  // namespace locus
#endif
