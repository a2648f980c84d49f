// SPDX-License-Identifier: Apache-2.0
// Compiles the gated unit of Llama for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "probe/gate_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "probe/ops.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> gated(D d, hn::Vec<D> gate, hn::Vec<D> up) {
  // The exponential overflows above 88, where the quotient is 0 in float32.
  const auto power = hn::Exp(d, hn::Min(hn::Neg(gate), hn::Set(d, 88.0f)));
  return hn::Mul(hn::Div(gate, hn::Add(hn::Set(d, 1.0f), power)), up);
}

//   for (i < count) gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
void gate_by_silu_here(float* gate, const float* up, std::size_t count) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= count; j += hn::Lanes(d)) {
    hn::StoreU(gated(d, hn::LoadU(d, gate + j), hn::LoadU(d, up + j)), d, gate + j);
  }
  for (; j < count; ++j) hn::StoreU(gated(one, hn::LoadU(one, gate + j), hn::LoadU(one, up + j)), one, gate + j);
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {
HWY_EXPORT(gate_by_silu_here);

namespace probe {

void gate_by_silu(Rows& gate, const Rows& up, Executor* executor) {
  constexpr std::int64_t grain = 1 << 14;
  for_ranges(executor, std::ssize(gate.data), grain, [&](std::int64_t begin, std::int64_t end) {
    const auto count = static_cast<std::size_t>(end - begin);
    HWY_DYNAMIC_DISPATCH(gate_by_silu_here)(gate.data.data() + begin, up.data.data() + begin, count);
  });
}

}  // namespace probe
}  // namespace locus
#endif
