// SPDX-License-Identifier: Apache-2.0
// No rule: w_i = base^(-2i/d), i = 0 .. d/2 - 1.
// Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding" (arXiv 2104.09864), section 3.2.2.
#include "locus/scaling.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> none(const RuleContext& context, const Arguments&) {
  return {.inv_freq = plain_frequencies(context.rotary_dim, Real(context.base))};
}

GgmlRope none_ggml(const RuleContext& context, const Arguments&) {
  return {.freq_base = static_cast<float>(context.base)};
}

}  // namespace

const Rule& none_rule();
const Rule& none_rule() {
  static const Rule rule{
      .name = "none",
      .title = "no rule",
      .summary = "frequencies as trained",
      .paper = "Su et al. 2021, arXiv 2104.09864",
      .parameters = {},
      .example = {},
      .hf_types = {"default", "mrope", "3D", "video_rope"},
      .gguf_type = "none",
      .compared = false,
      .exact = none<DoubleDouble>,
      .single = none<float>,
      .ggml = none_ggml,
  };
  return rule;
}

}  // namespace locus
