// SPDX-License-Identifier: Apache-2.0
// The stored kernels of attention for 8-bit integers, for every SIMD target.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attend_int8_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "kernels/attend_simd.h"
#include "kernels/attend_stored-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {

IntegerKernels choose_integer_kernels() {
  return {.stored_scores = stored_scores<std::int8_t>,
          .stored_values = stored_values<std::int8_t>,
          .widen_rows = widen_rows<std::int8_t>};
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(choose_integer_kernels);

IntegerKernels integer_kernels() { return HWY_DYNAMIC_DISPATCH(choose_integer_kernels)(); }

}  // namespace locus
#endif
