// SPDX-License-Identifier: Apache-2.0
// Compiles the tiles of attention for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attend_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "kernels/attend-inl.h"
#include "kernels/attend_simd.h"
#include "kernels/attend_stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace {

template <class T>
AttendKernels kernels_of() {
  return {.panel = panel_width(),
          .pack_keys = pack_keys<T>,
          .pack_values = pack_values<T>,
          .widen_rows = widen_rows<T>,
          .scores = score_tile,
          .add_differences = add_differences_tile,
          .cap = cap_tile,
          .softmax = softmax_tile,
          .values = value_tile,
          .store_row = store_row<T>,
          .stored_scores = stored_scores<T>,
          .stored_values = stored_values<T>};
}

}  // namespace

AttendKernels choose_attend_kernels(ElementType type) {
  if (type == ElementType::bfloat16) return kernels_of<BFloat16>();
  if (type == ElementType::float16) return kernels_of<Float16>();
  return kernels_of<float>();
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(choose_attend_kernels);

AttendKernels attend_kernels(ElementType type) { return HWY_DYNAMIC_DISPATCH(choose_attend_kernels)(type); }

}  // namespace locus
#endif
