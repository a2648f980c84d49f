// SPDX-License-Identifier: Apache-2.0
// Loading any element type as float32 lanes and storing them back, for one SIMD target.

#if defined(LOCUS_KERNELS_WIDEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_WIDEN_INL_H_
#undef LOCUS_KERNELS_WIDEN_INL_H_
#else
#define LOCUS_KERNELS_WIDEN_INL_H_
#endif

#include "hwy/highway.h"
#include "locus/element.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Sixteen bits of storage per float32 lane.
template <class D>
using Bits16 = hn::Rebind<std::uint16_t, D>;
template <class D>
using VecBits16 = hn::Vec<Bits16<D>>;

// bfloat16 is the upper half of a float32.
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, VecBits16<D> bits, BFloat16) {
  const hn::RebindToUnsigned<D> du;
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(du, bits)));
}

template <class D>
HWY_INLINE hn::Vec<D> widen(D d, VecBits16<D> bits, Float16) {
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
}

// Highway truncates when it narrows to bfloat16. Adding 0x7fff, or 0x8000 where the kept part is odd, rounds to nearest
// even; a NaN keeps its upper bits and is made quiet, lest the addition turn it into infinity.
template <class D>
HWY_INLINE VecBits16<D> narrow(D, hn::Vec<D> value, BFloat16) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x00400000u));
  const auto chosen = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)), quiet, rounded);
  return hn::DemoteTo(Bits16<D>(), hn::BitCast(di, hn::ShiftRight<16>(chosen)));
}

template <class D>
HWY_INLINE VecBits16<D> narrow(D, hn::Vec<D> value, Float16) {
  return hn::BitCast(Bits16<D>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), value));
}

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE void store(D d, hn::Vec<D> value, float* to) {
  hn::StoreU(value, d, to);
}
template <class D>
HWY_INLINE void load_interleaved(D d, const float* from, hn::Vec<D>& x, hn::Vec<D>& y) {
  hn::LoadInterleaved2(d, from, x, y);
}
template <class D>
HWY_INLINE void store_interleaved(D d, hn::Vec<D> x, hn::Vec<D> y, float* to) {
  hn::StoreInterleaved2(x, y, d, to);
}

template <class D, class Half>
HWY_INLINE hn::Vec<D> load(D d, const Half* from) {
  return widen(d, hn::LoadU(Bits16<D>(), reinterpret_cast<const std::uint16_t*>(from)), Half());
}
template <class D, class Half>
HWY_INLINE void store(D d, hn::Vec<D> value, Half* to) {
  hn::StoreU(narrow(d, value, Half()), Bits16<D>(), reinterpret_cast<std::uint16_t*>(to));
}
template <class D, class Half>
HWY_INLINE void load_interleaved(D d, const Half* from, hn::Vec<D>& x, hn::Vec<D>& y) {
  VecBits16<D> bits_x, bits_y;
  hn::LoadInterleaved2(Bits16<D>(), reinterpret_cast<const std::uint16_t*>(from), bits_x, bits_y);
  x = widen(d, bits_x, Half());
  y = widen(d, bits_y, Half());
}
template <class D, class Half>
HWY_INLINE void store_interleaved(D d, hn::Vec<D> x, hn::Vec<D> y, Half* to) {
  hn::StoreInterleaved2(narrow(d, x, Half()), narrow(d, y, Half()), Bits16<D>(), reinterpret_cast<std::uint16_t*>(to));
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
