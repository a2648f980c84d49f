// SPDX-License-Identifier: Apache-2.0
// NTK-by-parts, the predecessor of YaRN: three frequencies per pair, blended by two ramps over the pair index.
//   kept   w_i = base^(-2i/d);  linear  w_i / f;  ntk  (base f^(d/(d-2)))^(-2i/d)
//   dim(r) = d ln(L / (2 pi r)) / (2 ln base)       the pair that turns r times within the trained length L
//   ramp(a, b) over [max(floor(dim(a)), 0), min(ceil(dim(b)), d - 1)], clamped to [0, 1]; equal bounds: upper += 0.001
//   n_i     = ntk_factor (1 - ramp(5/4, 3/4)_i),  k_i = ext_factor (1 - ramp(16, 2)_i); both factors default to 1
//   inner_i = ntk n_i + linear (1 - n_i)
//   w'_i    = kept k_i + inner_i (1 - k_i)
// bloc97 2023, "NTK-Aware by-parts", in jquesnelle/yarn (LlamaPartNTKScaledRotaryEmbedding); no factor on cos and sin.
//
// Deviation: Peng et al. 2023 (arXiv 2309.00071), section 3.2, call "NTK-by-parts" the ramp of rule yarn alone, without
// the ntk frequencies: that is rule yarn with attention_factor = 1.
#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/scaling.h"
#include "scaling/common_parameters.h"
#include "scaling/wavelength.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> ntk_by_parts(const RuleContext& context, const Arguments& arguments) {
  using std::ceil, std::floor, std::pow;
  using Scalar = ScalarOf<Real>;
  require(context.rotary_dim > 2, "rope rule ntk_by_parts needs rotary_dim above 2, got ", context.rotary_dim);
  require(context.base > 1, "rope rule ntk_by_parts needs a base above 1, got ", context.base);
  const Scalar d(static_cast<double>(context.rotary_dim));
  const Scalar factor(arguments.real("factor"));
  const Scalar original(static_cast<double>(arguments.integer("original_length")));
  const Scalar base(context.base);
  const Real ntk_base = static_cast<Real>(base * pow(factor, d / (d - Scalar(2))));
  // The share of the faster of two frequencies: 1 up to the pair that turns `fast` times, 0 from the one that turns
  // `slow` times.
  const auto share = [&](double fast, double slow, std::int64_t i) {
    const Scalar low = std::max(floor(pair_turning(Scalar(fast), d, base, original)), Scalar(0));
    Scalar high = std::min(ceil(pair_turning(Scalar(slow), d, base, original)), d - Scalar(1));
    if (low == high) high = high + Scalar(0.001);
    const Real slope = (Real(static_cast<double>(i)) - Real(low)) / Real(high - low);
    return Real(1) - std::clamp(slope, Real(0), Real(1));
  };

  const Real ntk_factor = Real(arguments.real("ntk_factor")), ext_factor = Real(arguments.real("ext_factor"));
  Frequencies<Real> result;
  for (std::int64_t i = 0; i < context.rotary_dim / 2; ++i) {
    const Real exponent = Real(static_cast<double>(2 * i)) / Real(static_cast<double>(context.rotary_dim));
    const Real wavelength = pow(Real(context.base), exponent);
    const Real linear = Real(1) / (Real(factor) * wavelength);
    const Real ntk = Real(1) / pow(ntk_base, exponent);
    const Real by_ntk = ntk_factor * share(1.25, 0.75, i);
    const Real inner = linear * (Real(1) - by_ntk) + ntk * by_ntk;
    const Real keep = ext_factor * share(16, 2, i);
    result.inv_freq.push_back(inner * (Real(1) - keep) + Real(1) / wavelength * keep);
  }
  return result;
}

}  // namespace

const Rule& ntk_by_parts_rule();
const Rule& ntk_by_parts_rule() {
  static const Rule rule{
      .name = "ntk_by_parts",
      .title = "NTK by parts",
      .summary = "fast frequencies kept, middle ones NTK-aware, slow ones divided by the factor",
      .paper = "bloc97 2023; jquesnelle/yarn",
      .parameters = {{.name = "factor",
                      .kind = ValueKind::real,
                      .meaning = "extended length / trained length",
                      .required = true,
                      .least = 1},
                     original_length_parameter(),
                     {.name = "ntk_factor",
                      .kind = ValueKind::real,
                      .meaning = "share of the middle frequencies that is NTK-aware; the rest is divided by the factor",
                      .fallback = 1.0,
                      .least = 0,
                      .most = 1},
                     ext_factor_parameter()},
      .example = {{"factor", 4.0}, {"original_length", std::int64_t{4096}}},
      .trained_length = "original_length",
      .compared = false,
      .exact = ntk_by_parts<DoubleDouble>,
      .single = ntk_by_parts<float>,
  };
  return rule;
}

}  // namespace locus
