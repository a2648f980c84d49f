// SPDX-License-Identifier: Apache-2.0
// Cosines and sines of integer phases, and products of rows, for one SIMD target.

#if defined(LOCUS_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LOCUS_KERNELS_ROWS_INL_H_
#undef LOCUS_KERNELS_ROWS_INL_H_
#else
#define LOCUS_KERNELS_ROWS_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

//   cos = magnitude * cos(2 pi phase / 2^64);  sin = magnitude * sin(2 pi phase / 2^64);
// The integer phase is split exactly into a quarter turn q and a rest in [-1/8, 1/8) turn before it becomes a double.
// The minimax polynomials of Sun's fdlibm on [-pi/4, pi/4] have an error below one ulp.
template <class D>
HWY_INLINE void cos_sin_of_phases(D d, const std::uint64_t* phases, hn::Vec<D> magnitude, hn::Vec<D>& cos,
                                  hn::Vec<D>& sin) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto phase = hn::LoadU(du, phases);
  const auto quarter = hn::ShiftRight<62>(hn::Add(phase, hn::Set(du, std::uint64_t{1} << 61)));
  const auto rest = hn::BitCast(di, hn::Sub(phase, hn::ShiftLeft<62>(quarter)));
  const auto x = hn::Mul(hn::ConvertTo(d, rest), hn::Set(d, 6.283185307179586477 * 0x1p-64));
  const auto z = hn::Mul(x, x);

  auto s = hn::Set(d, 1.58969099521155010221e-10);
  s = hn::MulAdd(s, z, hn::Set(d, -2.50507602534068634195e-08));
  s = hn::MulAdd(s, z, hn::Set(d, 2.75573137070700676789e-06));
  s = hn::MulAdd(s, z, hn::Set(d, -1.98412698298579493134e-04));
  s = hn::MulAdd(s, z, hn::Set(d, 8.33333333332248946124e-03));
  s = hn::MulAdd(s, z, hn::Set(d, -1.66666666666666324348e-01));
  s = hn::MulAdd(hn::Mul(s, z), x, x);

  auto c = hn::Set(d, -1.13596475577881948265e-11);
  c = hn::MulAdd(c, z, hn::Set(d, 2.08757232129817482790e-09));
  c = hn::MulAdd(c, z, hn::Set(d, -2.75573143513906633035e-07));
  c = hn::MulAdd(c, z, hn::Set(d, 2.48015872894767294178e-05));
  c = hn::MulAdd(c, z, hn::Set(d, -1.38888888888741095749e-03));
  c = hn::MulAdd(c, z, hn::Set(d, 4.16666666666666019037e-02));
  c = hn::MulAdd(c, z, hn::Set(d, -0.5));
  c = hn::MulAdd(c, z, hn::Set(d, 1.0));

  // A quarter turn swaps the two; the second and third quarters have a negative cosine, the last two a negative sine.
  const auto one = hn::Set(du, std::uint64_t{1});
  const auto swap = hn::RebindMask(d, hn::Eq(hn::And(quarter, one), one));
  const auto sin_sign = hn::ShiftLeft<62>(hn::And(quarter, hn::Set(du, std::uint64_t{2})));
  const auto cos_sign = hn::ShiftLeft<62>(hn::And(hn::Add(quarter, one), hn::Set(du, std::uint64_t{2})));
  cos = hn::Mul(magnitude, hn::Xor(hn::IfThenElse(swap, s, c), hn::BitCast(d, cos_sign)));
  sin = hn::Mul(magnitude, hn::Xor(hn::IfThenElse(swap, c, s), hn::BitCast(d, sin_sign)));
}

template <class D>
HWY_INLINE void phases_at(D d, const std::uint64_t* phases, std::size_t i, double magnitude, double* cos, double* sin) {
  hn::Vec<D> c, s;
  cos_sin_of_phases(d, phases + i, hn::Set(d, magnitude), c, s);
  hn::StoreU(c, d, cos + i);
  hn::StoreU(s, d, sin + i);
}

//   for (i < count) { cos[i] = magnitude * cos(2 pi phases[i] / 2^64);
//                     sin[i] = magnitude * sin(2 pi phases[i] / 2^64); }
void phases_to_cos_sin_here(const std::uint64_t* phases, std::size_t count, double magnitude, double* cos,
                            double* sin) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) phases_at(d, phases, i, magnitude, cos, sin);
  for (; i < count; ++i) phases_at(one, phases, i, magnitude, cos, sin);
}

// The product of anchor and step for one vector from entry i on:
//   cos = float(anchor_cos * step_cos - anchor_sin * step_sin);
//   sin = float(anchor_sin * step_cos + anchor_cos * step_sin);
template <class D>
struct Combined {
  HWY_INLINE Combined(D d, const double* anchor, const double* step, std::size_t width, std::size_t i) {
    const auto anchor_cos = hn::LoadU(d, anchor + i);
    const auto anchor_sin = hn::LoadU(d, anchor + width + i);
    const auto step_cos = loaded_once(hn::LoadU(d, step + i));
    const auto step_sin = loaded_once(hn::LoadU(d, step + width + i));
    const hn::Rebind<float, D> df;
    cos = hn::DemoteTo(df, hn::NegMulAdd(anchor_sin, step_sin, hn::Mul(anchor_cos, step_cos)));
    sin = hn::DemoteTo(df, hn::MulAdd(anchor_cos, step_sin, hn::Mul(anchor_sin, step_cos)));
  }
  hn::Vec<hn::Rebind<float, D>> cos, sin;
};

template <class D>
HWY_INLINE void combine_at(D d, const double* anchor, const double* step, std::size_t width, std::size_t i, float* cos,
                           float* sin) {
  const hn::Rebind<float, D> df;
  const Combined<D> entries(d, anchor, step, width, i);
  hn::StoreU(entries.cos, df, cos + i);
  hn::StoreU(entries.sin, df, sin + i);
}

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
template <class D>
HWY_INLINE void combine_two(D d, const double* anchor, const double* step, std::size_t width, std::size_t i, float* cos,
                            float* sin) {
  combine_at(d, anchor, step, width, i, cos, sin);
  combine_at(d, anchor, step, width, i + hn::Lanes(d), cos, sin);
}
#else
// Two at a time fill a whole vector of float32, which halves the number of stores.
template <class D>
HWY_INLINE void combine_two(D d, const double* anchor, const double* step, std::size_t width, std::size_t i, float* cos,
                            float* sin) {
  const hn::ScalableTag<float> whole;
  const Combined<D> low(d, anchor, step, width, i);
  const Combined<D> high(d, anchor, step, width, i + hn::Lanes(d));
  hn::StoreU(hn::Combine(whole, high.cos, low.cos), whole, cos + i);
  hn::StoreU(hn::Combine(whole, high.sin, low.sin), whole, sin + i);
}
#endif

//   for (r < rows) for (i < width) (cos[r][i], sin[r][i]) = float(anchor[i] * steps[r][i]);   complex products
// Row after row, so that memory is written in order; the anchor is reloaded for each row from the L1 cache.
void combine_rows_here(const double* anchor, const double* steps, std::size_t width, std::size_t rows, float* cos,
                       float* sin, std::size_t stride) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  for (; rows > 0; --rows, steps += 2 * width, cos += stride, sin += stride) {
    std::size_t i = 0;
    for (; i + 4 * lanes <= width; i += 4 * lanes) {
      combine_two(d, anchor, steps, width, i, cos, sin);
      combine_two(d, anchor, steps, width, i + 2 * lanes, cos, sin);
    }
    for (; i + lanes <= width; i += lanes) combine_at(d, anchor, steps, width, i, cos, sin);
    for (; i < width; ++i) combine_at(one, anchor, steps, width, i, cos, sin);
  }
}

//   for (i < count) { out[2 * i] = first[i]; out[2 * i + 1] = second[i]; }
void interleave_here(const float* first, const float* second, std::size_t count, float* out) {
  const hn::ScalableTag<float> d;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
    hn::StoreInterleaved2(hn::LoadU(d, first + i), hn::LoadU(d, second + i), d, out + 2 * i);
  }
  for (; i < count; ++i) {
    out[2 * i] = first[i];
    out[2 * i + 1] = second[i];
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
