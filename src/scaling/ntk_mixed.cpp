// SPDX-License-Identifier: Apache-2.0
// NTK-aware scaling that also divides the fastest frequency: w_i / exp(a (i + 1)^b) with a = ln(f) / (d/2)^b, so that
// the slowest frequency is divided by f. b = 1 is the "fixed" form: the base becomes base * f and every frequency is
// divided by f^(2/d).
// Su 2023, "NTK-RoPE: fixed and mixed bases" (kexue.fm/archives/9706); vLLM's rope_type "ntk", where mixed_b is b.
#include "locus/scaling.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> ntk_mixed(const RuleContext& context, const Arguments& arguments) {
  using std::exp, std::log, std::pow;
  using Scalar = ScalarOf<Real>;
  const Scalar b(arguments.real("mixed_b"));
  const Scalar a = log(Scalar(arguments.real("factor"))) / pow(Scalar(static_cast<double>(context.rotary_dim / 2)), b);
  std::vector<Real> inv_freq = plain_frequencies(context.rotary_dim, Real(context.base));
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    const Scalar index(static_cast<double>(i + 1));
    inv_freq[i] = inv_freq[i] / Real(exp(a * pow(index, b)));
  }
  return {.inv_freq = std::move(inv_freq)};
}

}  // namespace

const Rule& ntk_mixed_rule();
const Rule& ntk_mixed_rule() {
  static const Rule rule{
      .name = "ntk_mixed",
      .title = "NTK, mixed",
      .summary = "NTK-aware with divisors exp(a (i + 1)^b), which divide the fastest frequency too",
      .paper = "Su 2023, kexue.fm/archives/9706",
      .parameters = {{.name = "factor",
                      .kind = ValueKind::real,
                      .meaning = "extended length / trained length",
                      .required = true,
                      .least = 1},
                     {.name = "mixed_b",
                      .kind = ValueKind::real,
                      .meaning = "exponent of the pair index; 1: every divisor is the same share larger than the last",
                      .fallback = 1.0,
                      .least = 0,
                      .most = 16,
                      .above_least = true}},
      .example = {{"factor", 4.0}},
      .compared = false,
      .exact = ntk_mixed<DoubleDouble>,
      .single = ntk_mixed<float>,
  };
  return rule;
}

}  // namespace locus
