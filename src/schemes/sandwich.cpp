// SPDX-License-Identifier: Apache-2.0
// Sandwich: the inner product of two sinusoidal rows as a bias, compressed differently in each head:
//   bias_h(n) = H / (8 (h + 1)) * sum_i cos(n base^(-2i/d)),  i = 0 .. d/2 - 1,  n = query - key,  H heads.
// Chi et al. 2022, "Dissecting Transformer Length Extrapolation via the Lens of Receptive Field Analysis"
// (arXiv 2212.10356), section 5.
#include <cmath>

#include "locus/error.h"
#include "locus/registry.h"
#include "locus/scaling.h"
#include "locus/turns.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::distance_only, Claim::cache_safe, Claim::negative_positions,
                        Claim::unbounded};

SchemeResult make(const Arguments& arguments) {
  const std::int64_t dim = arguments.integer("dim");
  require(dim % 2 == 0, "sandwich.dim must be even, got ", dim);
  std::vector<Turns> turns;
  for (const DoubleDouble w : plain_frequencies(dim, DoubleDouble(arguments.real("base"))))
    turns.push_back(to_turns(w));
  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  bias.value = [turns, heads = bias.heads](std::int64_t head, Position query, Position key) {
    const Position distance = query < key ? key - query : query - key;
    double sum = 0;
    for (const Turns w : turns) sum += std::cos(angle_of(w, distance));
    return sum * static_cast<double>(heads) / (8 * static_cast<double>(head + 1));
  };
  return {std::move(bias), claims};
}

}  // namespace

const Scheme& sandwich_scheme();
const Scheme& sandwich_scheme() {
  static const Scheme scheme{
      .name = "sandwich",
      .title = "Sandwich",
      .summary = "the inner product of sinusoidal rows as a bias",
      .paper = "Chi et al. 2022, arXiv 2212.10356",
      .site = Site::score,
      .claims = claims,
      .parameters = {heads_parameter(),
                     {.name = "dim",
                      .kind = ValueKind::integer,
                      .meaning = "width of the sinusoidal rows",
                      .fallback = std::int64_t{128},
                      .least = 2,
                      .most = 65536},
                     base_parameter("wavelengths run from 2 pi towards 2 pi base")},
      .make = make,
      .example = {{"heads", std::int64_t{8}}},
      .variants = {{"dim=8", {{"heads", 2}, {"dim", 8}}}},
  };
  return scheme;
}

}  // namespace locus
