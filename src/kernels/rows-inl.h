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
#include <span>

#include "hwy/highway.h"
#include "kernels/rows_simd.h"
#include "simd/widen-inl.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The minimax polynomials of Sun's fdlibm on [-pi/4, pi/4], highest power first; their error is below one ulp.
constexpr double sine_terms[] = {1.58969099521155010221e-10,  -2.50507602534068634195e-08, 2.75573137070700676789e-06,
                                 -1.98412698298579493134e-04, 8.33333333332248946124e-03,  -1.66666666666666324348e-01};
constexpr double cosine_terms[] = {-1.13596475577881948265e-11,
                                   2.08757232129817482790e-09,
                                   -2.75573143513906633035e-07,
                                   2.48015872894767294178e-05,
                                   -1.38888888888741095749e-03,
                                   4.16666666666666019037e-02,
                                   -0.5,
                                   1.0};
constexpr double radians_per_phase = 6.283185307179586477 * 0x1p-64;

#if HWY_HAVE_FLOAT64

//   cos = magnitude * cos(2 pi phase / 2^64);  sin = magnitude * sin(2 pi phase / 2^64);
// The integer phase is split exactly into a quarter turn q and a rest in [-1/8, 1/8) turn before it becomes a double.
template <class D>
HWY_INLINE void cos_sin_of_phases(D d, const std::uint64_t* phases, hn::Vec<D> magnitude, hn::Vec<D>& cos,
                                  hn::Vec<D>& sin) {
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto phase = hn::LoadU(du, phases);
  const auto quarter = hn::ShiftRight<62>(hn::Add(phase, hn::Set(du, std::uint64_t{1} << 61)));
  const auto rest = hn::BitCast(di, hn::Sub(phase, hn::ShiftLeft<62>(quarter)));
  const auto x = hn::Mul(hn::ConvertTo(d, rest), hn::Set(d, radians_per_phase));
  const auto z = hn::Mul(x, x);

  auto s = hn::Set(d, sine_terms[0]);
  s = hn::MulAdd(s, z, hn::Set(d, sine_terms[1]));
  s = hn::MulAdd(s, z, hn::Set(d, sine_terms[2]));
  s = hn::MulAdd(s, z, hn::Set(d, sine_terms[3]));
  s = hn::MulAdd(s, z, hn::Set(d, sine_terms[4]));
  s = hn::MulAdd(s, z, hn::Set(d, sine_terms[5]));
  s = hn::MulAdd(hn::Mul(s, z), x, x);

  auto c = hn::Set(d, cosine_terms[0]);
  c = hn::MulAdd(c, z, hn::Set(d, cosine_terms[1]));
  c = hn::MulAdd(c, z, hn::Set(d, cosine_terms[2]));
  c = hn::MulAdd(c, z, hn::Set(d, cosine_terms[3]));
  c = hn::MulAdd(c, z, hn::Set(d, cosine_terms[4]));
  c = hn::MulAdd(c, z, hn::Set(d, cosine_terms[5]));
  c = hn::MulAdd(c, z, hn::Set(d, cosine_terms[6]));
  c = hn::MulAdd(c, z, hn::Set(d, cosine_terms[7]));

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

// One row of CombineRows.
struct RowProduct {
  const double* anchor;
  const double* step;
  std::size_t width;
  float* cos;
  float* sin;
};

// The product of anchor and step for one vector from entry i on:
//   cos = float(anchor_cos * step_cos - anchor_sin * step_sin);
//   sin = float(anchor_sin * step_cos + anchor_cos * step_sin);
template <class D>
struct Combined {
  HWY_INLINE Combined(D d, const RowProduct& row, std::size_t i) {
    const auto anchor_cos = hn::LoadU(d, row.anchor + i);
    const auto anchor_sin = hn::LoadU(d, row.anchor + row.width + i);
    const auto step_cos = loaded_once(hn::LoadU(d, row.step + i));
    const auto step_sin = loaded_once(hn::LoadU(d, row.step + row.width + i));
    const hn::Rebind<float, D> df;
    cos = hn::DemoteTo(df, hn::NegMulAdd(anchor_sin, step_sin, hn::Mul(anchor_cos, step_cos)));
    sin = hn::DemoteTo(df, hn::MulAdd(anchor_cos, step_sin, hn::Mul(anchor_sin, step_cos)));
  }
  hn::Vec<hn::Rebind<float, D>> cos, sin;
};

template <class D>
HWY_INLINE void combine_at(D d, const RowProduct& row, std::size_t i) {
  const hn::Rebind<float, D> df;
  const Combined<D> entries(d, row, i);
  hn::StoreU(entries.cos, df, row.cos + i);
  hn::StoreU(entries.sin, df, row.sin + i);
}

#if HWY_TARGET == HWY_SCALAR || HWY_HAVE_SCALABLE
template <class D>
HWY_INLINE void combine_two(D d, const RowProduct& row, std::size_t i) {
  combine_at(d, row, i);
  combine_at(d, row, i + hn::Lanes(d));
}
#else
// Two at a time fill a whole vector of float32, which halves the number of stores.
template <class D>
HWY_INLINE void combine_two(D d, const RowProduct& row, std::size_t i) {
  const hn::ScalableTag<float> whole;
  const Combined<D> low(d, row, i);
  const Combined<D> high(d, row, i + hn::Lanes(d));
  hn::StoreU(hn::Combine(whole, high.cos, low.cos), whole, row.cos + i);
  hn::StoreU(hn::Combine(whole, high.sin, low.sin), whole, row.sin + i);
}
#endif

// Asks for the lines of a row that is written later: otherwise arithmetic waits for stores, and stores for their lines.
HWY_INLINE void prefetch_for_writing(const float* row, std::size_t width) {
  constexpr std::size_t distance = 2048, line = 64;
  const auto* ahead = reinterpret_cast<const char*>(row) + distance;
  for (std::size_t i = 0; i < width * sizeof(float); i += line) {
#if HWY_ARCH_X86 && (HWY_COMPILER_GCC || HWY_COMPILER_CLANG)
    asm volatile("prefetchw %0" ::"m"(ahead[i]));  // the builtin means it only if the compiler's target has it
#else
    __builtin_prefetch(ahead + i, 1);
#endif
  }
}

//   for (r < rows) for (i < width) (cos[r][i], sin[r][i]) = float(anchor[i] * steps[r][i]);   complex products
// Row after row, so that memory is written in order; the anchor is reloaded for each row from the L1 cache.
void combine_rows_here(const CombineRows& all) {
  const hn::ScalableTag<double> d;
  const hn::CappedTag<double, 1> one;
  const std::size_t lanes = hn::Lanes(d), width = all.width, stride = all.stride;
  RowProduct row{all.anchor, all.steps, width, all.cos, all.sin};
  for (std::size_t left = all.rows; left > 0; --left, row.step += 2 * width, row.cos += stride, row.sin += stride) {
    if (all.rows > 1) {
      prefetch_for_writing(row.cos, width);
      prefetch_for_writing(row.sin, width);
    }
    std::size_t i = 0;
    for (; i + 4 * lanes <= width; i += 4 * lanes) {
      combine_two(d, row, i);
      combine_two(d, row, i + 2 * lanes);
    }
    for (; i + lanes <= width; i += lanes) combine_at(d, row, i);
    for (; i < width; ++i) combine_at(one, row, i);
  }
}

#else  // no float64 lanes (WebAssembly): one entry at a time, by the operations of targets without fused multiply-add

inline double polynomial(std::span<const double> terms, double z) {
  double sum = terms.front();
  for (const double term : terms.subspan(1)) sum = sum * z + term;
  return sum;
}

void phases_to_cos_sin_here(const std::uint64_t* phases, std::size_t count, double magnitude, double* cos,
                            double* sin) {
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t quarter = (phases[i] + (std::uint64_t{1} << 61)) >> 62;
    const auto rest = static_cast<std::int64_t>(phases[i] - (quarter << 62));
    const double x = static_cast<double>(rest) * radians_per_phase, z = x * x;
    const double s = polynomial(sine_terms, z) * z * x + x, c = polynomial(cosine_terms, z);
    const bool swap = (quarter & 1) != 0;
    cos[i] = magnitude * (((quarter + 1) & 2) != 0 ? -1.0 : 1.0) * (swap ? s : c);
    sin[i] = magnitude * ((quarter & 2) != 0 ? -1.0 : 1.0) * (swap ? c : s);
  }
}

void combine_rows_here(const CombineRows& all) {
  const std::size_t width = all.width;
  for (std::size_t r = 0; r < all.rows; ++r) {
    const double *anchor = all.anchor, *step = all.steps + 2 * r * width;
    for (std::size_t i = 0; i < width; ++i) {
      const double cos = anchor[i], sin = anchor[width + i], step_cos = step[i], step_sin = step[width + i];
      all.cos[r * all.stride + i] = static_cast<float>(cos * step_cos - sin * step_sin);
      all.sin[r * all.stride + i] = static_cast<float>(sin * step_cos + cos * step_sin);
    }
  }
}

#endif

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
