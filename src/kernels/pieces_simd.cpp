// SPDX-License-Identifier: Apache-2.0
// Compiles the rows of a piecewise linear bias for every SIMD target and selects the best one at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/pieces_simd.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
//
#include "hwy/highway.h"
#include "kernels/pieces_simd.h"

HWY_BEFORE_NAMESPACE();
namespace locus::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// Rounds as vectors do.
HWY_INLINE double value_of(const PieceRun& run, double number) {
#if HWY_HAVE_FLOAT64
  const hn::CappedTag<double, 1> d;
  return hn::GetLane(hn::MulAdd(hn::Set(d, run.slope), hn::Set(d, number), hn::Set(d, run.start)));
#else
  return run.slope * number + run.start;
#endif
}

//   for (c < end of the last run) scores[c] += float(run.slope * numbers[c] + run.start);   run: the one that has c
//
// A vector that lies across ends is computed for every run that it meets, and the columns are selected.
void add_pieces_row(const PieceRow& row) {
  const PieceRun* run = row.runs;
  const PieceRun* const last = row.runs + row.count - 1;
  const std::int64_t columns = last->end;
  std::int64_t c = 0;
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto values_of = [&](const PieceRun& one, auto numbers)
                             HWY_ATTR { return hn::MulAdd(hn::Set(d, one.slope), numbers, hn::Set(d, one.start)); };
  for (; c + lanes <= columns; c += lanes) {
    const auto numbers = hn::LoadU(d, row.numbers + c);
    auto values = values_of(*run, numbers);
    while (run->end < c + lanes) {
      const auto before = hn::FirstN(d, static_cast<std::size_t>(run->end - c));
      ++run;
      values = hn::IfThenElse(before, values, values_of(*run, numbers));
    }
    hn::StoreU(hn::Add(hn::LoadU(df, row.scores + c), hn::DemoteTo(df, values)), df, row.scores + c);
  }
#endif
  for (; c < columns; ++c) {
    while (run->end <= c) ++run;
    row.scores[c] += static_cast<float>(value_of(*run, row.numbers[c]));
  }
}

//   for (begin <= c < end) { plain += gradients[c]; with_number += gradients[c] * numbers[c]; ... slopes[c]; }
void sum_pieces_run(PieceSums& sums) {
  sums.plain = sums.with_number = sums.with_slope = 0;
  std::int64_t c = sums.begin;
#if HWY_HAVE_FLOAT64
  const hn::ScalableTag<double> d;
  const hn::Rebind<float, decltype(d)> df;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto plain = hn::Zero(d), with_number = hn::Zero(d), with_slope = hn::Zero(d);
  for (; c < sums.end; c += lanes) {
    const auto left = static_cast<std::size_t>(sums.end - c);  // a vector ends with zeros
    const auto gradient = hn::PromoteTo(d, hn::MaskedLoad(hn::FirstN(df, left), df, sums.gradients + c));
    plain = hn::Add(plain, gradient);
    with_number = hn::MulAdd(gradient, hn::LoadU(d, sums.numbers + c), with_number);
    with_slope = hn::MulAdd(gradient, hn::LoadU(d, sums.slopes + c), with_slope);
  }
  sums.plain = hn::GetLane(hn::SumOfLanes(d, plain));
  sums.with_number = hn::GetLane(hn::SumOfLanes(d, with_number));
  sums.with_slope = hn::GetLane(hn::SumOfLanes(d, with_slope));
#endif
  for (; c < sums.end; ++c) {
    const auto gradient = static_cast<double>(sums.gradients[c]);
    sums.plain += gradient;
    sums.with_number += gradient * sums.numbers[c];
    sums.with_slope += gradient * sums.slopes[c];
  }
}

}  // namespace
}  // namespace locus::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace locus {

HWY_EXPORT(add_pieces_row);
HWY_EXPORT(sum_pieces_run);

void add_pieces(const PieceRow& row) { HWY_DYNAMIC_DISPATCH(add_pieces_row)(row); }
void sum_pieces(PieceSums& sums) { HWY_DYNAMIC_DISPATCH(sum_pieces_run)(sums); }

}  // namespace locus
#endif
