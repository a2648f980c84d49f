// SPDX-License-Identifier: Apache-2.0
// Transformer-XL's relative keys: the query is multiplied by content and position separately,
//   score = (q + u) . k + (q + v) . (W_r R_n),  n = query - key,
// with R_n the sinusoid [sin | cos] of the distance, u and v learned per head, W_r a learned projection; one softmax
// scale over both. Dai et al. 2019, "Transformer-XL" (arXiv 1901.02860), section 3.3.
//
// The published code gets R_(i-j) by a "relative shift" (pad a zero column on the left, drop the first row), which
// leaves wrong entries right of the causal diagonal. Here the distance is looked up, and R is defined for negative
// distances too.
#include "locus/registry.h"
#include "schemes/projected_sinusoid.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions, Claim::unbounded,
                        Claim::learned};

SchemeResult make(const Arguments& arguments) {
  return projected_sinusoid("transformer_xl", arguments, claims, "concatenated");
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
      .parameters = projected_sinusoid_parameters(),
      .make = make,
      .example = {{"heads", std::int64_t{8}}, {"head_dim", std::int64_t{8}}},
      .variants = {{"model_dim=6", {{"heads", 2}, {"head_dim", 4}, {"model_dim", 6}}}},
  };
  return scheme;
}

}  // namespace locus
