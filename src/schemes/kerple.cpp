// SPDX-License-Identifier: Apache-2.0
// KERPLE: a penalty by a conditionally positive definite kernel of the distance n = |query - key|, two learned numbers
// per head:
//   log    -r1 ln(1 + r2 n),  r1, r2 > 0
//   power  -r1 n^r2,          r1 > 0, 0 < r2 <= 2
// Chi et al. 2022, "KERPLE: Kernelized Relative Positional Embedding for Length Extrapolation" (arXiv 2205.09921),
// corollary 1.
#include <cmath>

#include "locus/error.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative,           Claim::distance_only, Claim::decaying, Claim::cache_safe,
                        Claim::negative_positions, Claim::unbounded,     Claim::learned};

std::vector<double> per_head(const Arguments& arguments, std::string_view name, std::int64_t heads) {
  const std::vector<double>& given = arguments.list(name);
  if (given.size() == 1) return std::vector<double>(static_cast<std::size_t>(heads), given[0]);
  require(static_cast<std::int64_t>(given.size()) == heads, "kerple.", name, " must have 1 or heads (", heads,
          ") entries, got ", given.size());
  return given;
}

SchemeResult make(const Arguments& arguments) {
  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  const bool power = arguments.text("form") == "power";
  const std::vector<double> r1 = per_head(arguments, "r1", bias.heads);
  const std::vector<double> r2 = per_head(arguments, "r2", bias.heads);
  for (const double r : r2) require(!power || r <= 2, "kerple.r2 must be at most 2 with form=power, got ", r);
  bias.value = [=](std::int64_t head, Position query, Position key) {
    const double distance = std::fabs(static_cast<double>(query - key));
    const auto h = static_cast<std::size_t>(head);
    return power ? -r1[h] * std::pow(distance, r2[h]) : -r1[h] * std::log1p(r2[h] * distance);
  };
  bias.parameters = 2;  // r1, r2
  bias.parameter_slopes = [=](std::int64_t head, Position query, Position key, std::span<double> slopes) {
    const double distance = std::fabs(static_cast<double>(query - key));
    const auto h = static_cast<std::size_t>(head);
    if (power) {
      const double kernel = std::pow(distance, r2[h]);
      slopes[0] = -kernel;
      slopes[1] = distance == 0 ? 0 : -r1[h] * kernel * std::log(distance);
    } else {
      slopes[0] = -std::log1p(r2[h] * distance);
      slopes[1] = -r1[h] * distance / (1 + r2[h] * distance);
    }
  };
  const auto per_head_weight = [heads = bias.heads](std::string_view name, std::int64_t column) {
    return LearnedWeight{.name = name,
                         .shape = {heads},
                         .deviation = 0,
                         .gradient = LearnedGradient::bias_parameters,
                         .positive = true,
                         .column = column};
  };
  return {.term = std::move(bias), .claims = claims, .learned = {per_head_weight("r1", 0), per_head_weight("r2", 1)}};
}

}  // namespace

const Scheme& kerple_scheme();
const Scheme& kerple_scheme() {
  static const Scheme scheme{
      .name = "kerple",
      .title = "KERPLE",
      .summary = "a penalty logarithmic in distance, or a power of it, learned per head",
      .paper = "Chi et al. 2022, arXiv 2205.09921",
      .site = Site::score,
      .claims = claims,
      .parameters = {heads_parameter(),
                     {.name = "form",
                      .kind = ValueKind::choice,
                      .meaning = "kernel",
                      .fallback = std::string("log"),
                      .choices = {"log", "power"}},
                     {.name = "r1",
                      .kind = ValueKind::list,
                      .meaning = "strength, one for all heads or one per head",
                      .fallback = std::vector<double>{1},
                      .least = 0,
                      .above_least = true},
                     {.name = "r2",
                      .kind = ValueKind::list,
                      .meaning = "rate (log) or exponent (power), one for all heads or one per head",
                      .fallback = std::vector<double>{1},
                      .least = 0,
                      .above_least = true}},
      .make = make,
      .example = {{"heads", std::int64_t{8}}},
      .variants =
          {{"form=power",
            {{"heads", 2}, {"form", "power"}, {"r1", std::vector<double>{1, 0.5}}, {"r2", std::vector<double>{1.5}}}}},
  };
  return scheme;
}

}  // namespace locus
