// SPDX-License-Identifier: Apache-2.0
// Loads any element type as float32 lanes and stores them back, for one SIMD target. In scalar form:
//   load:  lane[i] = to_float(from[i])      store:  to[i] = round_to_nearest_even(lane[i])

#if defined(LOCUS_SIMD_WIDEN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_SIMD_WIDEN_INL_H_
#undef LOCUS_SIMD_WIDEN_INL_H_
#else
#define LOCUS_SIMD_WIDEN_INL_H_
#endif

#include "hwy/highway.h"
#include "locus/element.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Without an instruction for it, Highway 1.0.3 truncates when it narrows to float16, and handles neither infinity nor
// NaN.
#undef LOCUS_CONVERTS_FLOAT16
#if HWY_ARCH_X86
#define LOCUS_CONVERTS_FLOAT16 (HWY_TARGET <= HWY_AVX2)
#else
#define LOCUS_CONVERTS_FLOAT16 (HWY_ARCH_ARM_A64 || HWY_ARCH_RVV)
#endif

// g++ may reload a value from memory for every use. That doubles the loads, which are the limit where this is used.
template <class V>
HWY_INLINE V loaded_once(V value) {
#if HWY_COMPILER_GCC && !HWY_COMPILER_CLANG && HWY_ARCH_X86
  asm("" : "+x"(value.raw));
#endif
  return value;
}

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

#if LOCUS_CONVERTS_FLOAT16

template <class D>
HWY_INLINE hn::Vec<D> widen(D d, VecBits16<D> bits, Float16) {
  return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
}

template <class D>
HWY_INLINE VecBits16<D> narrow(D, hn::Vec<D> value, Float16) {
  return hn::BitCast(Bits16<D>(), hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), value));
}

#else

// A float16 shifted left by 13 bits is a float32 that is too small by 2^112, subnormals included; infinity and NaN
// need the largest exponent.
template <class D>
HWY_INLINE hn::Vec<D> widen(D d, VecBits16<D> bits, Float16) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto wide = hn::PromoteTo(du, bits);
  const auto magnitude = hn::And(wide, hn::Set(du, 0x7fffu));
  const auto sign = hn::ShiftLeft<16>(hn::Xor(wide, magnitude));
  const auto shifted = hn::ShiftLeft<13>(magnitude);
  const auto finite = hn::BitCast(du, hn::Mul(hn::BitCast(d, shifted), hn::Set(d, 0x1p112f)));
  const auto special = hn::RebindMask(du, hn::Gt(hn::BitCast(di, magnitude), hn::Set(di, 0x7bff)));
  const auto chosen = hn::IfThenElse(special, hn::Or(shifted, hn::Set(du, 0x7f800000u)), finite);
  return hn::BitCast(d, hn::Or(chosen, sign));
}

// As to_float16(): adding 0xfff, or 0x1000 if the kept part is odd, rounds to nearest even; below 2^-14 adding 0.5
// does. From 65520 on the result is infinity. A NaN keeps its upper bits and becomes quiet.
template <class D>
HWY_INLINE VecBits16<D> narrow(D d, hn::Vec<D> value, Float16) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto bits = hn::BitCast(du, value);
  const auto magnitude = hn::And(bits, hn::Set(du, 0x7fffffffu));
  const auto sign = hn::ShiftRight<16>(hn::Xor(bits, magnitude));
  const auto size = hn::BitCast(di, magnitude);
  const auto is_normal = hn::RebindMask(du, hn::Gt(size, hn::Set(di, 0x387fffff)));
  const auto is_large = hn::RebindMask(du, hn::Gt(size, hn::Set(di, 0x477fefff)));
  const auto is_nan = hn::RebindMask(du, hn::Gt(size, hn::Set(di, 0x7f800000)));
  const auto odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(odd, hn::Set(du, 0xfffu - 0x38000000u))));
  const auto raised = hn::BitCast(du, hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f)));
  const auto subnormal = hn::And(raised, hn::Set(du, 0x7ffu));
  const auto quiet = hn::Or(hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 0x3ffu)), hn::Set(du, 0x7e00u));
  auto chosen = hn::IfThenElse(is_normal, normal, subnormal);
  chosen = hn::IfThenElse(is_large, hn::Set(du, 0x7c00u), chosen);
  chosen = hn::IfThenElse(is_nan, quiet, chosen);
  return hn::DemoteTo(Bits16<D>(), hn::BitCast(di, hn::Or(chosen, sign)));
}

#endif

// Highway truncates when it narrows to bfloat16. Adding 0x7fff, or 0x8000 if the kept part is odd, rounds to nearest
// even. A NaN keeps its upper bits and becomes quiet, because the addition could turn it into infinity. The result is
// the upper half of each lane; the lower half is not cleared.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> round_to_bfloat16(D, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fffu)));
  const auto quiet = hn::Or(bits, hn::Set(du, 0x00400000u));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(value)), quiet, rounded);
}

template <class D>
HWY_INLINE VecBits16<D> narrow(D d, hn::Vec<D> value, BFloat16) {
  const hn::RebindToSigned<D> di;
  return hn::DemoteTo(Bits16<D>(), hn::BitCast(di, hn::ShiftRight<16>(round_to_bfloat16(d, value))));
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
HWY_INLINE hn::Vec<D> load(D d, const std::int8_t* from) {
  return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(hn::Rebind<std::int8_t, D>(), from)));
}

template <class D, class Half>
HWY_INLINE hn::Vec<D> load(D d, const Half* from) {
  return widen(d, hn::LoadU(Bits16<D>(), reinterpret_cast<const std::uint16_t*>(from)), Half());
}
template <class D, class Half>
HWY_INLINE void store(D d, hn::Vec<D> value, Half* to) {
  hn::StoreU(narrow(d, value, Half()), Bits16<D>(), reinterpret_cast<std::uint16_t*>(to));
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
