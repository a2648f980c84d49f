// SPDX-License-Identifier: Apache-2.0
// Compiles the conversion to an IntegerRow for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "probe/weights/integer_row_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include <limits>

#include "hwy/highway.h"
#include "probe/weights/integer_row.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

///   for each group of 32: scale = max |x[k]| / 32767;
///     for each k of it: integers[k] = round(x[k] / scale);  sums[k / 16] += integers[k];
/// `scales` gets one number per 32 columns, `sums` one per 16.
void to_integers_here(std::span<const float> x, std::int16_t* integers, float* scales, float* sums) {
  constexpr std::size_t group = 32, half = 16;
  const hn::CappedTag<float, half / 2> d;
  const hn::RebindToSigned<decltype(d)> wide;
  const hn::Rebind<std::int16_t, decltype(d)> narrow;
  for (std::size_t first = 0; first < x.size(); first += group) {
    auto most = hn::Zero(d), fault = hn::Zero(d);
    for (std::size_t k = first; k < first + group; k += hn::Lanes(d)) {
      const auto values = hn::LoadU(d, x.data() + k);
      most = hn::Max(most, hn::Abs(values));
      fault = hn::MulAdd(values, hn::Zero(d), fault);  // NaN once a column is not finite
    }
    const float scale = hn::GetLane(hn::MaxOfLanes(d, most)) / 32767;
    // The inverse of a smaller number would overflow.
    const float inverse = scale >= std::numeric_limits<float>::min() ? 1 / scale : 0.0f;
    scales[first / group] = scale + hn::GetLane(hn::SumOfLanes(d, fault));
    for (std::size_t start = first; start < first + group; start += half) {
      std::int16_t* const even = integers + first + (start - first) / 2;
      auto sum = hn::Zero(wide);
      for (std::size_t k = 0; k < half / 2; k += hn::Lanes(d)) {
        hn::Vec<decltype(d)> x_even, x_odd;
        hn::LoadInterleaved2(d, x.data() + start + 2 * k, x_even, x_odd);
        const auto whole_even = hn::NearestInt(hn::Mul(x_even, hn::Set(d, inverse)));
        const auto whole_odd = hn::NearestInt(hn::Mul(x_odd, hn::Set(d, inverse)));
        hn::StoreU(hn::DemoteTo(narrow, whole_even), narrow, even + k);
        hn::StoreU(hn::DemoteTo(narrow, whole_odd), narrow, even + half + k);
        sum = hn::Add(sum, hn::Add(whole_even, whole_odd));
      }
      sums[start / half] = static_cast<float>(hn::GetLane(hn::SumOfLanes(wide, sum)));
    }
  }
}

}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {
HWY_EXPORT(to_integers_here);

namespace probe {

IntegerRow::IntegerRow(std::span<const float> x) : integers(hwy::AllocateAligned<std::int16_t>(x.size())) {
  by_32.scales.resize(x.size() / 32);
  by_16.integer_sums.resize(x.size() / 16);
  HWY_DYNAMIC_DISPATCH(to_integers_here)(x, integers.get(), by_32.scales.data(), by_16.integer_sums.data());
  for (std::size_t g = 0; g < by_16.integer_sums.size(); g += 2) {
    by_32.integer_sums.push_back(by_16.integer_sums[g] + by_16.integer_sums[g + 1]);
    by_16.scales.insert(by_16.scales.end(), 2, by_32.scales[g / 2]);
  }
  for (Groups* groups : {&by_32, &by_16}) {
    for (std::size_t g = 0; g < groups->scales.size(); ++g) {
      groups->sums.push_back(groups->scales[g] * groups->integer_sums[g]);
    }
  }
}

}  // namespace probe
}  // namespace locus
#endif
