// SPDX-License-Identifier: Apache-2.0
// Position interpolation: w_i / f, the same as dividing every position by f.
// Chen et al. 2023, "Extending Context Window of Large Language Models via Positional Interpolation"
// (arXiv 2306.15595), equation 4.
#include "locus/scaling.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> linear(const RuleContext& context, const Arguments& arguments) {
  std::vector<Real> inv_freq = plain_frequencies(context.rotary_dim, Real(context.base));
  for (Real& w : inv_freq) w = w / Real(arguments.real("factor"));
  return {.inv_freq = std::move(inv_freq)};
}

GgmlRope linear_ggml(const RuleContext& context, const Arguments& arguments) {
  return {.freq_base = static_cast<float>(context.base),
          .freq_scale = static_cast<float>(1 / arguments.real("factor"))};
}

}  // namespace

const Rule& linear_rule();
const Rule& linear_rule() {
  static const Rule rule{
      .name = "linear",
      .title = "interpolation",
      .summary = "position interpolation: every frequency divided by the factor",
      .paper = "Chen et al. 2023, arXiv 2306.15595",
      .parameters = {{.name = "factor",
                      .kind = ValueKind::real,
                      .meaning = "extended length / trained length",
                      .required = true,
                      .least = 1}},
      .example = {{"factor", 4.0}},
      .hf_types = {"linear"},
      .gguf_type = "linear",
      .exact = linear<DoubleDouble>,
      .single = linear<float>,
      .ggml = linear_ggml,
  };
  return rule;
}

}  // namespace locus
