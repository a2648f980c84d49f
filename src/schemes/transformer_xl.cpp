// SPDX-License-Identifier: Apache-2.0
// Transformer-XL's relative keys: the query is multiplied by content and position separately,
//   score = (q + u) . k + (q + v) . (W_r R_n),  n = query - key,
// with R_n the sinusoid [sin | cos] of the distance, u and v learned per head, W_r a learned projection; one softmax
// scale over both. Dai et al. 2019, "Transformer-XL" (arXiv 1901.02860), section 3.3.
//
// The published code gets R_(i-j) by a "relative shift" (pad a zero column on the left, drop the first row), which
// leaves wrong entries right of the causal diagonal. Here the distance is looked up, and R is defined for negative
// distances too.
#include <cmath>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions, Claim::unbounded,
                        Claim::learned};

SchemeResult make(const Arguments& arguments) {
  RelativeKeys keys;
  keys.heads = arguments.integer("heads");
  keys.head_dim = arguments.integer("head_dim");
  const std::int64_t width = keys.heads * keys.head_dim;
  const std::int64_t model_dim = arguments.maybe_integer("model_dim").value_or(width);
  require(model_dim <= (std::int64_t{1} << 30) / width, "transformer_xl.model_dim x heads x head_dim must be at most ",
          "2^30 values, got ", model_dim, " x ", width);
  keys.u = weights_or_normal("transformer_xl", arguments, "u", {keys.heads, keys.head_dim}, 0);
  keys.v = weights_or_normal("transformer_xl", arguments, "v", {keys.heads, keys.head_dim}, 1);
  keys.w_r = weights_or_normal("transformer_xl", arguments, "w_r", {width, model_dim}, 2);
  const Scheme& sinusoidal = find_scheme("sinusoidal");
  const Arguments rows =
      validate("transformer_xl", sinusoidal.parameters,
               {{"dim", model_dim}, {"base", arguments.real("base")}, {"arrangement", std::string("concatenated")}});
  keys.sinusoid = std::get<HiddenRows>(sinusoidal.make(rows).term);
  const auto weight = [](std::string_view name, const Tensor& tensor, LearnedGradient gradient) {
    const double deviation = 1 / std::sqrt(static_cast<double>(tensor.shape.back()));
    return LearnedWeight{.name = name, .shape = tensor.shape, .deviation = deviation, .gradient = gradient};
  };
  SchemeResult result{.term = {}, .claims = claims};
  result.learned = {weight("u", keys.u, LearnedGradient::u), weight("v", keys.v, LearnedGradient::v),
                    weight("w_r", keys.w_r, LearnedGradient::w_r)};
  result.term = std::move(keys);
  return result;
}

}  // namespace

const Scheme& transformer_xl_scheme();
const Scheme& transformer_xl_scheme() {
  static const Scheme scheme{
      .name = "transformer_xl",
      .title = "Transformer-XL",
      .summary = "a projected sinusoid of the distance, multiplied by the query, with learned biases",
      .paper = "Dai et al. 2019, arXiv 1901.02860",
      .site = Site::relative_key,
      .claims = claims,
      .parameters = {heads_parameter(),
                     head_dim_parameter(1),
                     {.name = "model_dim",
                      .kind = ValueKind::integer,
                      .meaning = "width of the sinusoid; absent: heads x head_dim",
                      .least = 1,
                      .most = 1048576},
                     {.name = "base",
                      .kind = ValueKind::real,
                      .meaning = "base of the sinusoid",
                      .fallback = 10000.0,
                      .least = 0,
                      .above_least = true},
                     {.name = "u", .kind = ValueKind::tensor, .meaning = "content bias [heads, head_dim]"},
                     {.name = "v", .kind = ValueKind::tensor, .meaning = "position bias [heads, head_dim]"},
                     {.name = "w_r", .kind = ValueKind::tensor, .meaning = "projection [heads x head_dim, model_dim]"},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", std::int64_t{8}}, {"head_dim", std::int64_t{8}}},
      .variants = {{"model_dim=6", {{"heads", 2}, {"head_dim", 4}, {"model_dim", 6}}}},
  };
  return scheme;
}

}  // namespace locus
