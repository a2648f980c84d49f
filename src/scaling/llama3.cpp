// SPDX-License-Identifier: Apache-2.0
// Llama 3's rule, by the wavelength l_i = 2 pi / w_i and the trained length L:
//   l_i < L / high  kept;  l_i > L / low  divided by f;  between them
//   s = (L / l_i - low) / (high - low),  w'_i = (1 - s) w_i / f + s w_i.
// Dubey et al. 2024, "The Llama 3 Herd of Models" (arXiv 2407.21783) and Meta's published code.
//
// If low = high, the band between has no width and s is 1 at its edge.
// As a GGUF divisor the rule is 1 / ((1 - s)/f + s).
#include "locus/error.h"
#include "locus/scaling.h"
#include "scaling/common_parameters.h"
#include "scaling/wavelength.h"

namespace locus {
namespace {

template <class Real>
Frequencies<Real> llama3(const RuleContext& context, const Arguments& arguments) {
  using Scalar = ScalarOf<Real>;
  const double low = arguments.real("low_freq_factor");
  const double high = arguments.real("high_freq_factor");
  require(low <= high, "rope.high_freq_factor must be at least low_freq_factor (", low, "), got ", high);
  const Real factor = static_cast<Real>(arguments.real("factor"));
  const Scalar original(static_cast<double>(arguments.integer("original_length")));
  const Real longest_kept = static_cast<Real>(original / Scalar(high));
  const Real shortest_divided = static_cast<Real>(original / Scalar(low));

  Frequencies<Real> result{.inv_freq = plain_frequencies(context.rotary_dim, Real(context.base))};
  for (Real& w : result.inv_freq) {
    const Real wavelength = static_cast<Real>(Scalar(2) * pi_of<Scalar>()) / w;
    if (wavelength < longest_kept) continue;
    if (wavelength > shortest_divided) {
      w = w / factor;
    } else {
      const Real smooth =
          low == high ? Real(1) : (Real(original) / wavelength - Real(low)) / Real(Scalar(high) - Scalar(low));
      w = (Real(1) - smooth) * w / factor + smooth * w;
    }
  }
  return result;
}

}  // namespace

const Rule& llama3_rule();
const Rule& llama3_rule() {
  static const Rule rule{
      .name = "llama3",
      .title = "Llama 3",
      .summary = "short wavelengths kept, long ones divided by the factor, a blend in between",
      .paper = "Dubey et al. 2024, arXiv 2407.21783",
      .parameters = {{.name = "factor",
                      .kind = ValueKind::real,
                      .meaning = "divisor of the slow frequencies",
                      .required = true,
                      .least = 1},
                     {.name = "low_freq_factor",
                      .kind = ValueKind::real,
                      .meaning = "wavelengths above original_length / this are divided",
                      .fallback = 1.0,
                      .least = 0,
                      .above_least = true},
                     {.name = "high_freq_factor",
                      .kind = ValueKind::real,
                      .meaning = "wavelengths below original_length / this are kept",
                      .fallback = 4.0,
                      .least = 0,
                      .above_least = true},
                     original_length_parameter()},
      .example = {{"factor", 8.0}, {"original_length", std::int64_t{8192}}},
      .trained_length = "original_length",
      .hf_types = {"llama3"},
      .compared = false,
      .exact = llama3<DoubleDouble>,
      .single = llama3<float>,
  };
  return rule;
}

}  // namespace locus
