// SPDX-License-Identifier: Apache-2.0
// xPos: RoPE whose pairs are also scaled by a power of the position, queries by a factor and keys by its inverse, so
// that the score decays with distance:
//   zeta_i = (2i + 0.4 d) / (1.4 d),  query times zeta_i^((p - c)/s), key divided by it, s = 512.
// Sun et al. 2022, "A Length-Extrapolatable Transformer" (arXiv 2212.10554), equation 9.
//
// With a fixed centre c the product of the two scales depends on the difference of positions only. torchscale's
// centre moves with the length, ceil(length / 2), which makes cached keys wrong (moving_centre). zeta_0 = 2/7, so the
// scale leaves float32's normal range at |p - c| > 87.33 s / ln(7/2), about 35,690 positions, and float16's at 9.70 s
// / ln(7/2), about 3,965. Positions beyond are refused.
#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/registry.h"
#include "locus/scaling.h"
#include "locus/turns.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions};

// The positions whose scale and inverse scale, for the smallest zeta, are normal numbers of a type whose smallest
// normal number is 2^-exponent: 126 for float32 and bfloat16, 14 for float16.
PositionRange range_within(const PairScale& scale, int exponent) {
  const double smallest = *std::min_element(scale.zeta.begin(), scale.zeta.end());
  const double reach = std::floor(exponent * std::log(2.0) * scale.scale_base / -std::log(smallest));
  const auto positions = static_cast<Position>(std::min(reach, static_cast<double>(2 * max_position)));
  return {std::max(scale.centre - positions, -max_position), std::min(scale.centre + positions, max_position)};
}

SchemeResult make(const Arguments& arguments) {
  Rotation rotation;
  rotation.head_dim = arguments.integer("head_dim");
  require(rotation.head_dim % 2 == 0, "xpos.head_dim must be even, got ", rotation.head_dim);
  rotation.rotary_dim = rotation.head_dim;
  rotation.pairing = arguments.text("pairing") == "half" ? Pairing::half : Pairing::interleaved;
  rotation.axis.assign(static_cast<std::size_t>(rotation.pairs()), 0);
  PairScale scale{.zeta = {}, .scale_base = arguments.real("scale_base"), .centre = arguments.integer("centre")};
  const double d = static_cast<double>(rotation.head_dim);
  for (const DoubleDouble w : plain_frequencies(rotation.rotary_dim, DoubleDouble(arguments.real("base")))) {
    const double i = static_cast<double>(scale.zeta.size());
    scale.zeta.push_back((2 * i + 0.4 * d) / (1.4 * d));
    rotation.inv_freq.push_back(w.hi);
    rotation.inv_freq_low.push_back(w.lo);
    rotation.turns.push_back(to_turns(w));
  }
  const bool moving = arguments.boolean("moving_centre");
  if (moving) {
    require(arguments.has("length"), "xpos.length must be given with moving_centre=true");
    scale.centre = (arguments.integer("length") + 1) / 2;
  }
  SchemeResult result{.term = {},
                      .claims = moving ? claims.without(Claim::cache_safe).without(Claim::relative) : claims};
  result.range = range_within(scale, 126);
  result.float16_range = range_within(scale, 14);
  result.range_reason = "beyond these its scale leaves the range of the element type";
  rotation.scale = std::move(scale);
  result.term = std::move(rotation);
  return result;
}

}  // namespace

const Scheme& xpos_scheme();
const Scheme& xpos_scheme() {
  static const Scheme scheme{
      .name = "xpos",
      .title = "xPos",
      .summary = "rotary embedding with a scale that decays with distance",
      .paper = "Sun et al. 2022, arXiv 2212.10554",
      .site = Site::query_key,
      .claims = claims,
      .parameters = {head_dim_parameter(2),
                     {.name = "pairing",
                      .kind = ValueKind::choice,
                      .meaning = "which coordinates rotate together (torchscale: interleaved)",
                      .required = true,
                      .choices = {"half", "interleaved"}},
                     base_parameter("theta of the rotation"),
                     {.name = "scale_base",
                      .kind = ValueKind::real,
                      .meaning = "positions over which the scale changes by a factor zeta",
                      .fallback = 512.0,
                      .least = 1},
                     {.name = "centre",
                      .kind = ValueKind::integer,
                      .meaning = "position whose scale is 1",
                      .fallback = std::int64_t{0},
                      .least = -0x1p31,
                      .most = 0x1p31},
                     {.name = "moving_centre",
                      .kind = ValueKind::boolean,
                      .meaning = "torchscale's centre ceil(length / 2); unsafe to cache",
                      .fallback = false},
                     {.name = "length",
                      .kind = ValueKind::integer,
                      .meaning = "moving_centre: current sequence length",
                      .least = 1,
                      .most = 0x1p31}},
      .make = make,
      .example = {{"head_dim", std::int64_t{64}}, {"pairing", std::string("interleaved")}},
      .variants = {{"centre=100", {{"head_dim", 16}, {"pairing", "half"}, {"centre", 100}}},
                   {"moving_centre=true",
                    {{"head_dim", 16}, {"pairing", "interleaved"}, {"moving_centre", true}, {"length", 100}}}},
      .compared = ComparedIn::standard,
  };
  return scheme;
}

}  // namespace locus
