// SPDX-License-Identifier: Apache-2.0
// Compiles the rotation for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "kernels/rotate-inl.h"
#include "kernels/rotate_simd.h"
#include "locus/rotate.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace {

template <class T>
RotateTokensFunction choose_layout(const RotateKind& kind) {
  if (kind.interleaved_in) {
    return kind.interleaved_out ? rotate_tokens<InterleavedPairs, T> : rotate_to_half<T>;
  }
  return kind.interleaved_out ? rotate_to_interleaved<T> : rotate_tokens<HalfPairs, T>;
}

}  // namespace

RotateTokensFunction choose_rotate_tokens(const RotateKind& kind) {
  if (kind.type == ElementType::bfloat16) return choose_layout<BFloat16>(kind);
  if (kind.type == ElementType::float16) return choose_layout<Float16>(kind);
  return choose_layout<float>(kind);
}

ScaleHeadsFunction choose_scale_heads(ElementType type) {
  if (type == ElementType::bfloat16) return scale_heads<BFloat16>;
  return type == ElementType::float16 ? scale_heads<Float16> : scale_heads<float>;
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(choose_rotate_tokens);
HWY_EXPORT(choose_scale_heads);
HWY_EXPORT(target_name);

RotateTokensFunction rotate_tokens_function(const RotateKind& kind) {
  return HWY_DYNAMIC_DISPATCH(choose_rotate_tokens)(kind);
}

ScaleHeadsFunction scale_heads_function(ElementType type) { return HWY_DYNAMIC_DISPATCH(choose_scale_heads)(type); }

std::string_view simd_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace locus
#endif
