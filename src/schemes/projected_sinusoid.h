// SPDX-License-Identifier: Apache-2.0
// Relative keys that are projections of a sinusoid of the distance, with learned biases u and v:
//   score = (q + u) . k + (q + v) . (W_r R_n),  n = query - key.
// Transformer-XL and Conformer differ only in how R_n arranges sines and cosines.
#pragma once

#include <cmath>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {

/// The arrangement is that of the scheme `sinusoidal`. `owner` starts error messages.
inline SchemeResult projected_sinusoid(std::string_view owner, const Arguments& arguments, Claims claims,
                                       std::string_view arrangement) {
  RelativeKeys keys;
  keys.heads = arguments.integer("heads");
  keys.head_dim = arguments.integer("head_dim");
  const std::int64_t width = keys.heads * keys.head_dim;
  const std::int64_t model_dim = arguments.maybe_integer("model_dim").value_or(width);
  require(model_dim <= (std::int64_t{1} << 30) / width, owner, ".model_dim x heads x head_dim must be at most ",
          "2^30 values, got ", model_dim, " x ", width);
  keys.u = weights_or_normal(owner, arguments, "u", {keys.heads, keys.head_dim}, 0);
  keys.v = weights_or_normal(owner, arguments, "v", {keys.heads, keys.head_dim}, 1);
  keys.w_r = weights_or_normal(owner, arguments, "w_r", {width, model_dim}, 2);
  const Scheme& sinusoidal = find_scheme("sinusoidal");
  const Arguments rows =
      validate(owner, sinusoidal.parameters,
               {{"dim", model_dim}, {"base", arguments.real("base")}, {"arrangement", std::string(arrangement)}});
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

inline std::vector<Parameter> projected_sinusoid_parameters() {
  return {heads_parameter(),
          head_dim_parameter(1),
          {.name = "model_dim",
           .kind = ValueKind::integer,
           .meaning = "width of the sinusoid; absent: heads x head_dim",
           .least = 1,
           .most = 1048576},
          base_parameter("base of the sinusoid"),
          {.name = "u", .kind = ValueKind::tensor, .meaning = "content bias [heads, head_dim]"},
          {.name = "v", .kind = ValueKind::tensor, .meaning = "position bias [heads, head_dim]"},
          {.name = "w_r", .kind = ValueKind::tensor, .meaning = "projection [heads x head_dim, model_dim]"},
          seed_parameter(),
          deviation_parameter()};
}

}  // namespace locus
