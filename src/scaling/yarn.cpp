// SPDX-License-Identifier: Apache-2.0
// YaRN: keeps fast frequencies, divides slow ones by the factor f, and blends those in between by a ramp over the
// pair index.
//   dim(r)  = d ln(L / (2 pi r)) / (2 ln base)      the pair whose wavelength fits r times into the trained length L
//   low     = dim(beta_fast), high = dim(beta_slow) floor and ceil unless `truncate` is false; clamped to [0, d - 1]
//   ramp_i  = clamp((i - low) / (high - low), 0, 1)  equal bounds: high += 0.001
//   keep_i  = e (1 - ramp_i)                         e = ext_factor, 1 in most models
//   w'_i    = (w_i / f) (1 - keep_i) + w_i keep_i
//   m(s, k) = 1 if s <= 1, else g k ln s + 1         g = magnitude_slope, 0.1 except in TeleChat 3 (0.07)
// cos and sin are multiplied by an explicit attention_factor, else by m(f, mscale) / m(f, mscale_all_dim) if both are
// given and not 0, else by m(f, 1). DeepSeek also multiplies the softmax scale by m(f, mscale_all_dim)^2.
// Peng et al. 2023, "YaRN: Efficient Context Window Extension of Large Language Models" (arXiv 2309.00071), section 3.
//
// A factor below 1, which transformers reads with a warning, divides like any other; its magnitude is 1.
// Deviations: all projects clamp at d - 1 although pairs end at d/2 - 1. ggml always truncates, and multiplies by
// 1 + 0.1 ln f itself.
#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/scaling.h"
#include "scaling/common_parameters.h"
#include "scaling/wavelength.h"

namespace locus {
namespace {

double yarn_magnitude(const Arguments& arguments, double scale, double k) {
  return scale <= 1 ? 1 : arguments.real("magnitude_slope") * k * std::log(scale) + 1;
}

template <class Scalar>
struct YarnLengths {
  Scalar factor;
  double original;
};

template <class Scalar>
YarnLengths<Scalar> lengths_of(const Arguments& arguments) {
  const auto longest = arguments.maybe_integer("max_length");
  const auto original = arguments.maybe_integer("original_length");
  require(longest || original, "rope rule yarn needs original_length (or max_length, when nothing was extended)");
  const double old_length = static_cast<double>(original ? *original : *longest);
  if (const auto factor = arguments.maybe_real("factor")) return {Scalar(*factor), old_length};
  require(longest && original, "rope rule yarn needs factor, or both max_length and original_length");
  return {Scalar(static_cast<double>(*longest)) / Scalar(old_length), old_length};
}

double attention_factor_of(const Arguments& arguments, double factor) {
  if (const auto given = arguments.maybe_real("attention_factor")) return *given;
  const double mscale = arguments.maybe_real("mscale").value_or(0);
  const double all_dim = arguments.maybe_real("mscale_all_dim").value_or(0);
  if (mscale != 0 && all_dim != 0) {
    return yarn_magnitude(arguments, factor, mscale) / yarn_magnitude(arguments, factor, all_dim);
  }
  return yarn_magnitude(arguments, factor, 1);
}

template <class Real>
Frequencies<Real> yarn(const RuleContext& context, const Arguments& arguments) {
  using std::ceil, std::floor, std::pow;
  using Scalar = ScalarOf<Real>;
  require(context.base > 1, "rope rule yarn needs a base above 1, got ", context.base);
  const YarnLengths<Scalar> lengths = lengths_of<Scalar>(arguments);
  const double factor = static_cast<double>(lengths.factor);
  const Scalar d(static_cast<double>(context.rotary_dim));
  const auto turning = [&](const char* times) {
    return pair_turning(Scalar(arguments.real(times)), d, Scalar(context.base), Scalar(lengths.original));
  };
  Scalar low = turning("beta_fast");
  Scalar high = turning("beta_slow");
  if (arguments.boolean("truncate")) {
    low = floor(low);
    high = ceil(high);
  }
  low = std::max(low, Scalar(0));
  high = std::min(high, d - Scalar(1));
  if (low == high) high = high + Scalar(0.001);

  const Real share = Real(arguments.real("ext_factor"));
  Frequencies<Real> result;
  for (std::int64_t i = 0; i < context.rotary_dim / 2; ++i) {
    const Real exponent = Real(static_cast<double>(2 * i)) / Real(static_cast<double>(context.rotary_dim));
    const Real wavelength = pow(Real(context.base), exponent);
    const Real kept = Real(1) / wavelength;
    const Real stretched = Real(1) / (Real(lengths.factor) * wavelength);
    const Real slope = (Real(static_cast<double>(i)) - Real(low)) / Real(high - low);
    const Real keep = share * (Real(1) - std::clamp(slope, Real(0), Real(1)));
    result.inv_freq.push_back(stretched * (Real(1) - keep) + kept * keep);
  }
  result.attention_factor = attention_factor_of(arguments, factor);
  const double all_dim = yarn_magnitude(arguments, factor, arguments.maybe_real("mscale_all_dim").value_or(0));
  result.softmax_scale_factor = all_dim * all_dim;
  return result;
}

GgmlRope yarn_ggml(const RuleContext& context, const Arguments& arguments) {
  const YarnLengths<double> lengths = lengths_of<double>(arguments);
  const double share = arguments.real("ext_factor");
  const double own = share == 0 ? 1 : 1 + 0.1 * std::log(lengths.factor);  // the factor that ggml applies itself
  return {.freq_base = static_cast<float>(context.base),
          .freq_scale = static_cast<float>(1 / lengths.factor),
          .ext_factor = static_cast<float>(share),
          .attn_factor = static_cast<float>(attention_factor_of(arguments, lengths.factor) / own),
          .beta_fast = static_cast<float>(arguments.real("beta_fast")),
          .beta_slow = static_cast<float>(arguments.real("beta_slow")),
          .original_length = static_cast<std::int64_t>(lengths.original)};
}

}  // namespace

const Rule& yarn_rule();
const Rule& yarn_rule() {
  static const Rule rule{
      .name = "yarn",
      .title = "YaRN",
      .summary = "fast frequencies kept, slow ones interpolated, a ramp in between; scores sharpened",
      .paper = "Peng et al. 2023, arXiv 2309.00071",
      .parameters =
          {{.name = "factor",
            .kind = ValueKind::real,
            .meaning = "extended length / trained length; absent: max_length / original_length",
            .least = 0,
            .above_least = true},
           {.name = "original_length",
            .kind = ValueKind::integer,
            .meaning = "trained length; absent: max_length",
            .least = 1,
            .most = 0x1p31},
           {.name = "max_length", .kind = ValueKind::integer, .meaning = "extended length", .least = 1, .most = 0x1p31},
           {.name = "beta_fast",
            .kind = ValueKind::real,
            .meaning = "pairs with more turns than this within the trained length are kept",
            .fallback = 32.0,
            .least = 0,
            .above_least = true},
           {.name = "beta_slow",
            .kind = ValueKind::real,
            .meaning = "pairs with fewer turns than this within the trained length are interpolated",
            .fallback = 1.0,
            .least = 0,
            .above_least = true},
           ext_factor_parameter(),
           {.name = "truncate",
            .kind = ValueKind::boolean,
            .meaning = "round the ramp's bounds outwards to integers (gpt-oss does not)",
            .fallback = true},
           {.name = "mscale",
            .kind = ValueKind::real,
            .meaning = "with mscale_all_dim: the attention factor is the ratio of the two magnitudes",
            .least = 0},
           {.name = "mscale_all_dim",
            .kind = ValueKind::real,
            .meaning = "DeepSeek: the square of its magnitude multiplies the softmax scale",
            .least = 0},
           {.name = "magnitude_slope",
            .kind = ValueKind::real,
            .meaning = "growth of the magnitude per unit of ln(factor); 0.07 in TeleChat 3",
            .fallback = 0.1,
            .least = 0},
           {.name = "attention_factor",
            .kind = ValueKind::real,
            .meaning = "replaces the rule's magnitude of cos and sin",
            .least = 0,
            .above_least = true}},
      .example = {{"factor", 4.0}, {"original_length", std::int64_t{4096}}},
      .trained_length = "original_length",
      .hf_types = {"yarn", "telechat3-yarn"},
      .gguf_type = "yarn",
      .gguf_keys = {{"yarn_attn_factor", "attention_factor"},
                    {"yarn_beta_fast", "beta_fast"},
                    {"yarn_beta_slow", "beta_slow"}},
      .exact = yarn<DoubleDouble>,
      .single = yarn<float>,
      .ggml = yarn_ggml,
  };
  return rule;
}

}  // namespace locus
