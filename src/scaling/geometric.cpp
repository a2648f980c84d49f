// SPDX-License-Identifier: Apache-2.0
// A geometric series with both ends: n frequencies from pi * lowest up to pi * lowest * base,
// w_j = pi lowest base^(j/(n-1)), slowest first. One frequency alone is the lowest.
// LTX-Video (HaCohen et al. 2024, arXiv 2501.00103), whose coordinates are fractions of the picture in [-1, 1]: base is
// theta, lowest is 1/2. A base below 1 runs from fast to slow.
#include "locus/scaling.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> geometric(const RuleContext& context, const Arguments& arguments) {
  using std::pow;
  using Scalar = ScalarOf<Real>;
  const std::int64_t count = context.rotary_dim / 2;
  const Scalar lowest = Scalar(arguments.real("lowest")) * Scalar(double_double_pi);
  Frequencies<Real> result;
  for (std::int64_t j = 0; j < count; ++j) {
    const Scalar share =
        count == 1 ? Scalar(0) : Scalar(static_cast<double>(j)) / Scalar(static_cast<double>(count - 1));
    result.inv_freq.push_back(Real(lowest * pow(Scalar(context.base), share)));
  }
  return result;
}

}  // namespace

const Rule& geometric_rule();
const Rule& geometric_rule() {
  static const Rule rule{
      .name = "geometric",
      .title = "geometric",
      .summary = "a geometric series from the lowest frequency to base times it, both included",
      .paper = "HaCohen et al. 2024, arXiv 2501.00103",
      .parameters = {{.name = "lowest",
                      .kind = ValueKind::real,
                      .meaning = "lowest frequency in half turns per unit of the coordinate",
                      .fallback = 0.5,
                      .least = 0,
                      .above_least = true}},
      .example = {},
      .compared = false,
      .exact = geometric<DoubleDouble>,
      .single = geometric<float>,
  };
  return rule;
}

}  // namespace locus
