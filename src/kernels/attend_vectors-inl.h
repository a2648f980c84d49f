// SPDX-License-Identifier: Apache-2.0
// What the kernels of attention share: the vector type, how many rows and vectors fit its registers, and 2^x.

#if defined(LOCUS_KERNELS_ATTEND_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ATTEND_VECTORS_INL_H_
#undef LOCUS_KERNELS_ATTEND_VECTORS_INL_H_
#else
#define LOCUS_KERNELS_ATTEND_VECTORS_INL_H_
#endif

#include <cstdint>
#include <utility>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FloatTag = hn::ScalableTag<float>;
using FloatVec = hn::Vec<FloatTag>;

inline std::int64_t lanes_of_float() { return static_cast<std::int64_t>(hn::Lanes(FloatTag())); }

// Accumulators of a product in registers, rows x vectors: with 32 registers 24, else 12. The others hold the vectors on
// the right and one broadcast. With fewer accumulators the fused multiply-adds wait for their own results.
#if (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3) || HWY_ARCH_ARM_A64
constexpr std::int64_t accumulators = 24;
#else
constexpr std::int64_t accumulators = 12;
#endif

// Vectors per panel of packed keys.
constexpr std::int64_t key_vectors = accumulators / 6;

// Rows of a product with this many vectors per panel. More than 8 rows would need more address registers than there
// are.
constexpr std::int64_t rows_for(std::int64_t vectors) {
  const std::int64_t rows = accumulators / vectors;
  return rows < 8 ? rows : 8;
}

// Vectors per panel of values for heads of `dim`: as little padding as possible, then as wide as possible.
inline std::int64_t value_vectors(std::int64_t dim) {
  const std::int64_t vectors = (dim + lanes_of_float() - 1) / lanes_of_float();
  std::int64_t best = 1;
  for (std::int64_t v = 2; v <= HWY_MIN(vectors, 4); ++v) {
    const auto padded = [&](std::int64_t by) { return (vectors + by - 1) / by * by; };
    if (best == 1 || padded(v) <= padded(best)) best = v;
  }
  return best;
}

inline std::int64_t key_panel_width() { return key_vectors * lanes_of_float(); }

// For lambdas that work on vectors in registers: compiled for the target, and always inlined.
#ifndef LOCUS_INLINED
#define LOCUS_INLINED HWY_ATTR __attribute__((always_inline))
#endif

// Calls visit(0), visit(1), ..., with the index as a type, so that arrays of vectors stay in registers.
template <std::int64_t kCount, class Visit>
HWY_INLINE void unrolled(const Visit& visit) {
  [&]<std::int64_t... i>(std::integer_sequence<std::int64_t, i...>) LOCUS_INLINED {
    (visit(std::integral_constant<std::int64_t, i>()), ...);
  }
  (std::make_integer_sequence<std::int64_t, kCount>());
}

// 2^x for x <= 126, within 2 ulp; 0 below 2^-125; NaN stays NaN. Splits x = n + f with |f| <= 1/2 by adding 1.5 * 2^23,
// whose last bits are then n. A polynomial of degree 5, exact at 0, gives 2^f (relative error 9e-8 before rounding);
// n is added to the exponent.
HWY_INLINE FloatVec exp2_of(FloatVec x) {
  const FloatTag d;
  const hn::RebindToSigned<FloatTag> di;
  const auto magic = hn::Set(d, 12582912.0f);
  const auto shifted = hn::Add(x, magic);
  const auto f = hn::Sub(x, hn::Sub(shifted, magic));
  auto p = hn::Set(d, 1.326508289221385e-3f);
  p = hn::MulAdd(p, f, hn::Set(d, 9.671252557517399e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 5.550730552387481e-2f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.402224604524016e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 6.931469805734646e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.0f));
  const auto bits = hn::Add(hn::BitCast(di, p), hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  return hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -125.0f)), hn::BitCast(d, bits));
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
