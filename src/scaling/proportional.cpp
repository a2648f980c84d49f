// SPDX-License-Identifier: Apache-2.0
// Proportional RoPE (Gemma 4): the exponent runs over the whole head, w_i = base^(-2i/head_dim), but only the first
// floor(fraction * head_dim / 2) pairs rotate; the others have frequency 0. Then all frequencies are divided by the
// factor. This differs from a shorter rotary width, whose exponents are denser.
#include <cmath>

#include "locus/scaling.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> proportional(const RuleContext& context, const Arguments& arguments) {
  std::vector<Real> inv_freq = plain_frequencies(context.rotary_dim, Real(context.base));
  const double turning = std::floor(arguments.real("rotary_fraction") * static_cast<double>(context.rotary_dim) / 2);
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    inv_freq[i] = static_cast<double>(i) < turning ? inv_freq[i] / Real(arguments.real("factor")) : Real(0);
  }
  return {.inv_freq = std::move(inv_freq)};
}

}  // namespace

const Rule& proportional_rule();
const Rule& proportional_rule() {
  static const Rule rule{
      .name = "proportional",
      .title = "proportional",
      .summary = "frequencies over the whole head, the slow ones set to zero",
      .paper = "Gemma 4 (Google 2026), as published in transformers",
      .parameters = {{.name = "rotary_fraction",
                      .kind = ValueKind::real,
                      .meaning = "share of the pairs that rotate",
                      .required = true,
                      .least = 0,
                      .most = 1,
                      .above_least = true},
                     {.name = "factor",
                      .kind = ValueKind::real,
                      .meaning = "divisor of all frequencies",
                      .fallback = 1.0,
                      .least = 1}},
      .example = {{"rotary_fraction", 0.25}},
      .hf_types = {"proportional"},
      .whole_head = true,
      .compared = false,
      .exact = proportional<DoubleDouble>,
      .single = proportional<float>,
  };
  return rule;
}

}  // namespace locus
