// SPDX-License-Identifier: Apache-2.0
// Dynamic NTK: the base grows with the length L of the sequence once L exceeds the trained length L_max,
// base * (f L / L_max - (f - 1))^(d/(d-2)).
// emozilla 2023, "Dynamically Scaled RoPE"; Peng et al. 2023 (arXiv 2309.00071), section 3.3.
//
// Keys cached at one length are wrong at another. Deviations: transformers computes the base in float32 and restores
// it when the length shrinks; vLLM fixes L at f * L_max from the start (profile `vllm`).
#include <algorithm>

#include "locus/error.h"
#include "locus/scaling.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> dynamic_ntk(const RuleContext& context, const Arguments& arguments) {
  using std::pow;
  require(context.rotary_dim > 2, "rope rule dynamic_ntk needs rotary_dim above 2, got ", context.rotary_dim);
  const double trained = static_cast<double>(arguments.integer("max_length"));
  double length = std::max(trained, static_cast<double>(arguments.maybe_integer("length").value_or(0)));
  const double f = arguments.real("factor");
  if (context.profile == Profile::vllm) length = trained * f;
  const Real d = static_cast<Real>(static_cast<double>(context.rotary_dim));
  const Real stretch = Real(f) * Real(length) / Real(trained) - Real(f - 1);
  const Real base = Real(context.base) * pow(stretch, d / (d - Real(2)));
  return {.inv_freq = plain_frequencies(context.rotary_dim, base)};
}

}  // namespace

const Rule& dynamic_ntk_rule();
const Rule& dynamic_ntk_rule() {
  static const Rule rule{
      .name = "dynamic_ntk",
      .title = "dynamic NTK",
      .summary = "NTK-aware with a base that grows with the sequence; cached keys become wrong when the length changes",
      .paper = "emozilla 2023; Peng et al. 2023, arXiv 2309.00071",
      .parameters = {{.name = "factor",
                      .kind = ValueKind::real,
                      .meaning = "how fast the base grows beyond the trained length",
                      .required = true,
                      .least = 1},
                     {.name = "max_length",
                      .kind = ValueKind::integer,
                      .meaning = "trained length",
                      .required = true,
                      .least = 1,
                      .most = 0x1p31},
                     {.name = "length",
                      .kind = ValueKind::integer,
                      .meaning = "current sequence length; absent: not extended",
                      .least = 1,
                      .most = 0x1p31}},
      .example = {{"factor", 2.0}, {"max_length", std::int64_t{2048}}},
      .trained_length = "max_length",
      .hf_types = {"dynamic"},
      .length_dependent = true,
      .exact = dynamic_ntk<DoubleDouble>,
      .single = dynamic_ntk<float>,
  };
  return rule;
}

}  // namespace locus
