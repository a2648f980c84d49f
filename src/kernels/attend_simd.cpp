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
AttendKernels kernels_of(std::int64_t head_dim) {
  const std::int64_t vectors = value_vectors(head_dim);
  return {.key_panel = key_panel_width(),
          .value_panel = vectors * lanes_of_float(),
          .pack_keys = pack_keys<T>,
          .pack_values = pack_values<T>,
          .squares = squares<T>,
          .widen_rows = widen_rows<T>,
          .scores = score_tile,
          .weighted = weighted_tile,
          .add_differences = add_differences_tile,
          .cap = cap_tile,
          .softmax = softmax_tile,
          .values = vectors == 1   ? value_tile<1>
                    : vectors == 2 ? value_tile<2>
                    : vectors == 3 ? value_tile<3>
                                   : value_tile<4>,
          .store_row = store_row<T>,
          .stored_scores = stored_scores<T>,
          .stored_values = stored_values<T>};
}

}  // namespace

AttendKernels choose_attend_kernels(ElementType type, std::int64_t head_dim) {
  if (type == ElementType::bfloat16) return kernels_of<BFloat16>(head_dim);
  if (type == ElementType::float16) return kernels_of<Float16>(head_dim);
  return kernels_of<float>(head_dim);
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(choose_attend_kernels);

AttendKernels attend_kernels(ElementType type, std::int64_t head_dim) {
  return HWY_DYNAMIC_DISPATCH(choose_attend_kernels)(type, head_dim);
}

}  // namespace locus
#endif
