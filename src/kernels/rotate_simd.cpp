// SPDX-License-Identifier: Apache-2.0
// Compiles the rotation for every SIMD target and picks the best at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "kernels/rotate-inl.h"
#include "kernels/rotate_simd.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace {

template <class T>
RotateTokenFunction choose_layout(bool interleaved_in, bool interleaved_out) {
  if (interleaved_in) return interleaved_out ? rotate_token<true, true, T> : rotate_token<true, false, T>;
  return interleaved_out ? rotate_token<false, true, T> : rotate_token<false, false, T>;
}

}  // namespace

RotateTokenFunction choose_rotate_token(ElementType type, bool interleaved_in, bool interleaved_out) {
  if (type == ElementType::bfloat16) return choose_layout<BFloat16>(interleaved_in, interleaved_out);
  if (type == ElementType::float16) return choose_layout<Float16>(interleaved_in, interleaved_out);
  return choose_layout<float>(interleaved_in, interleaved_out);
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(choose_rotate_token);
HWY_EXPORT(target_name);

RotateTokenFunction rotate_token_function(ElementType type, bool interleaved_in, bool interleaved_out) {
  return HWY_DYNAMIC_DISPATCH(choose_rotate_token)(type, interleaved_in, interleaved_out);
}

std::string_view simd_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace locus
#endif
