// SPDX-License-Identifier: Apache-2.0
// LongRoPE: each frequency has a divisor, w_i / ext_i, from a short list up to the trained length L and a long list
// beyond it. cos and sin are multiplied by sqrt(1 + ln f / ln L) with both lists (1 if f <= 1), with f = max_length /
// L if no factor is given. short_mscale and long_mscale replace it if a model has them. Ding et al. 2024, "LongRoPE:
// Extending LLM Context Window Beyond 2 Million Tokens" (arXiv 2402.13753).
//
// Keys cached with one list are wrong with the other. transformers chooses the list per call by the largest position;
// vLLM and llama.cpp choose once, by the maximum context (profiles `vllm` and `ggml`, if no length is given).
#include <cmath>

#include "locus/error.h"
#include "locus/scaling.h"
#include "scaling/common_parameters.h"

namespace locus {
namespace {

bool is_long(const RuleContext& context, const Arguments& arguments) {
  auto length = arguments.maybe_integer("length");
  const bool once = context.profile == Profile::vllm || (context.profile == Profile::ggml && !length);
  if (once) length = arguments.maybe_integer("max_length");
  return length && *length > arguments.integer("original_length");
}

const std::vector<double>& divisors(const RuleContext& context, const Arguments& arguments) {
  for (const char* name : {"short_factor", "long_factor"}) {
    require(static_cast<std::int64_t>(arguments.list(name).size()) == context.rotary_dim / 2, "rope.", name,
            " must have one entry per pair (", context.rotary_dim / 2, "), got ", arguments.list(name).size());
  }
  return arguments.list(is_long(context, arguments) ? "long_factor" : "short_factor");
}

double attention_factor_of(const RuleContext& context, const Arguments& arguments) {
  if (const auto given = arguments.maybe_real("attention_factor")) return *given;
  if (const auto given = arguments.maybe_real(is_long(context, arguments) ? "long_mscale" : "short_mscale")) {
    return *given;
  }
  const double original = static_cast<double>(arguments.integer("original_length"));
  auto factor = arguments.maybe_real("factor");
  if (!factor) {
    const auto longest = arguments.maybe_integer("max_length");
    require(longest.has_value(), "rope rule longrope needs factor, attention_factor or max_length");
    factor = static_cast<double>(*longest) / original;
  }
  return *factor <= 1 ? 1 : std::sqrt(1 + std::log(*factor) / std::log(original));
}

template <class Real>
Frequencies<Real> longrope(const RuleContext& context, const Arguments& arguments) {
  using std::pow;
  const std::vector<double>& ext = divisors(context, arguments);
  Frequencies<Real> result;
  for (std::int64_t i = 0; i < context.rotary_dim / 2; ++i) {
    const Real exponent = Real(static_cast<double>(2 * i)) / Real(static_cast<double>(context.rotary_dim));
    const Real wavelength = pow(Real(context.base), exponent);
    result.inv_freq.push_back(Real(1) / (Real(ext[static_cast<std::size_t>(i)]) * wavelength));
  }
  result.attention_factor = attention_factor_of(context, arguments);
  return result;
}

GgmlRope longrope_ggml(const RuleContext& context, const Arguments& arguments) {
  GgmlRope rope{.freq_base = static_cast<float>(context.base),
                .attn_factor = static_cast<float>(attention_factor_of(context, arguments))};
  for (const double divisor : divisors(context, arguments)) rope.freq_factors.push_back(static_cast<float>(divisor));
  return rope;
}

}  // namespace

const Rule& longrope_rule();
const Rule& longrope_rule() {
  static const Rule rule{
      .name = "longrope",
      .title = "LongRoPE",
      .summary = "a divisor per frequency, one list up to the trained length and one beyond it",
      .paper = "Ding et al. 2024, arXiv 2402.13753",
      .parameters =
          {{.name = "short_factor",
            .kind = ValueKind::list,
            .meaning = "divisors up to the trained length, one per pair",
            .required = true,
            .least = 0,
            .above_least = true},
           {.name = "long_factor",
            .kind = ValueKind::list,
            .meaning = "divisors beyond the trained length, one per pair",
            .required = true,
            .least = 0,
            .above_least = true},
           original_length_parameter(2),
           {.name = "max_length", .kind = ValueKind::integer, .meaning = "extended length", .least = 1, .most = 0x1p31},
           {.name = "factor",
            .kind = ValueKind::real,
            .meaning = "extended length / trained length; absent: max_length / original_length",
            .least = 0,
            .above_least = true},
           {.name = "attention_factor",
            .kind = ValueKind::real,
            .meaning = "replaces the rule's magnitude of cos and sin",
            .least = 0,
            .above_least = true},
           {.name = "short_mscale",
            .kind = ValueKind::real,
            .meaning = "magnitude with the short list",
            .least = 0,
            .above_least = true},
           {.name = "long_mscale",
            .kind = ValueKind::real,
            .meaning = "magnitude with the long list",
            .least = 0,
            .above_least = true},
           {.name = "length",
            .kind = ValueKind::integer,
            .meaning = "current sequence length; absent: not extended",
            .least = 1,
            .most = 0x1p31}},
      .example = {{"short_factor", std::vector<double>(8, 1.5)},
                  {"long_factor", std::vector<double>(8, 4.0)},
                  {"original_length", std::int64_t{4096}},
                  {"max_length", std::int64_t{32768}}},
      .trained_length = "original_length",
      .hf_types = {"longrope", "su"},
      .gguf_type = "longrope",
      .length_dependent = true,
      .compared = false,
      .exact = longrope<DoubleDouble>,
      .single = longrope<float>,
      .ggml = longrope_ggml,
  };
  return rule;
}

}  // namespace locus
