// SPDX-License-Identifier: Apache-2.0
// NTK-aware scaling, static: the base becomes base * a^(d/(d-2)), so that the slowest frequency is divided by a and the
// fastest is kept.
// bloc97 2023, "NTK-Aware Scaled RoPE"; written up in Peng et al. 2023 (arXiv 2309.00071), section 3.1.
//
// Deviation: vLLM's "ntk" takes w_i from base * a and divides it by a^(2/d); the profile `vllm` does that.
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> ntk(const RuleContext& context, const Arguments& arguments) {
  using std::pow;
  using Scalar = ScalarOf<Real>;
  require(context.rotary_dim > 2, "rope rule ntk needs rotary_dim above 2, got ", context.rotary_dim);
  const Scalar d(static_cast<double>(context.rotary_dim));
  const Scalar a(arguments.real("factor"));
  if (context.profile == Profile::vllm) {
    std::vector<Real> inv_freq = plain_frequencies(context.rotary_dim, Real(Scalar(context.base) * a));
    for (Real& w : inv_freq) w = w / Real(pow(a, Scalar(2) / d));
    return {.inv_freq = std::move(inv_freq)};
  }
  const Scalar base = Scalar(context.base) * pow(a, d / (d - Scalar(2)));
  return {.inv_freq = plain_frequencies(context.rotary_dim, Real(base))};
}

}  // namespace

const Rule& ntk_rule();
const Rule& ntk_rule() {
  static const Rule rule{
      .name = "ntk",
      .title = "NTK",
      .summary = "NTK-aware: a larger base divides slow frequencies and keeps fast ones",
      .paper = "bloc97 2023; Peng et al. 2023, arXiv 2309.00071",
      .parameters = {{.name = "factor",
                      .kind = ValueKind::real,
                      .meaning = "extended length / trained length (alpha)",
                      .required = true,
                      .least = 1}},
      .example = {{"factor", 4.0}},
      .hf_types = {"ntk"},
      .exact = ntk<DoubleDouble>,
      .single = ntk<float>,
  };
  return rule;
}

}  // namespace locus
