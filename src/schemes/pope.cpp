// SPDX-License-Identifier: Apache-2.0
// PoPE, polar positions: what a coordinate says is the length of a pair, where it stands is its angle. Each coordinate x
// of a head becomes a pair of length softplus(x); the pair of a query at p has the angle p w_c, that of a key at p the
// angle p w_c + delta[head, c], so that
//   q . k = sum_c softplus(q_c) softplus(k_c) cos((i - j) w_c - delta_c),  w_c = base^(-c / channels),
// with one frequency per coordinate. Gopalakrishnan et al. 2025, "Decoupling the What and Where With Polar Coordinate
// Positional Embeddings" (arXiv 2509.10534). The phases delta are learned, and clamped to -2 pi to 0.
//
// Once a head is polar (polar.h), the rest is RoPE with interleaved pairs on a head of head_dim + channels coordinates:
// w_c are the frequencies of a rotary width of 2 channels. Attention therefore takes heads of that width (values are
// padded), with the softmax scale of the head_dim before. Several axes have frequencies of their own, each from w = 1 on.
// The phases are per key head; PoPE-pytorch gives query head h the key head h % heads, attention here h / group.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {

const Scheme& rope_scheme();

namespace {

constexpr Claims claims{Claim::relative,           Claim::norm_preserving, Claim::cache_safe,
                        Claim::negative_positions, Claim::unbounded,       Claim::learned};
constexpr double two_pi = 6.283185307179586477;

std::int64_t channels_of(const Arguments& arguments, std::int64_t head_dim) {
  std::int64_t channels = arguments.maybe_integer("channels").value_or(head_dim);
  require(channels <= head_dim, "pope.channels must be at most head_dim (", head_dim, "), got ", channels);
  if (!arguments.has("axis_channels")) return channels;
  const std::vector<double>& widths = arguments.list("axis_channels");
  const double sum = std::accumulate(widths.begin(), widths.end(), 0.0);
  require(sum == static_cast<double>(channels), "pope.axis_channels must add up to channels (", channels, "), got ",
          sum);
  return channels;
}

// The given phases, else -|normal|; clamped in double.
Polar polar_parts(const Arguments& arguments) {
  Polar polar{
      .head_dim = arguments.integer("head_dim"), .channels = 0, .heads = arguments.integer("heads"), .phases = {}};
  polar.channels = channels_of(arguments, polar.head_dim);
  const Tensor given = weights_or_normal("pope", arguments, "phases", {polar.heads, polar.channels});
  for (const float phase : given.data) {
    const double radians =
        arguments.has("phases") ? static_cast<double>(phase) : -std::fabs(static_cast<double>(phase));
    polar.phases.push_back(std::clamp(radians, -two_pi, 0.0));
  }
  return polar;
}

SchemeResult make(const Arguments& arguments) {
  Polar polar = polar_parts(arguments);
  const std::int64_t wide = polar.head_dim + polar.channels;
  Arguments of_rope{{"head_dim", wide},
                    {"rotary_dim", 2 * polar.channels},
                    {"pairing", "interleaved"},
                    {"base", arguments.real("base")}};
  if (arguments.has("axis_channels")) {
    of_rope.set("axes", std::string("sections"));
    of_rope.set("sections", arguments.list("axis_channels"));
    of_rope.set("frequency_index", std::string("restarting"));
  }
  const Scheme& rope = rope_scheme();
  SchemeResult result = rope.make(validate("pope", rope.parameters_for(of_rope), of_rope));
  auto& rotation = std::get<Rotation>(result.term);
  rotation.softmax_scale_factor = std::sqrt(static_cast<double>(wide) / static_cast<double>(polar.head_dim));
  const std::vector<std::int64_t> shape{polar.heads, polar.channels};
  rotation.polar = std::move(polar);
  result.claims = claims;
  result.learned = {
      {.name = "phases", .shape = shape, .deviation = 0.1, .gradient = LearnedGradient::phases, .initial = -0.5}};
  return result;
}

}  // namespace

const Scheme& pope_scheme();
const Scheme& pope_scheme() {
  static const Scheme scheme{
      .name = "pope",
      .title = "PoPE",
      .summary =
          "polar positions: a coordinate is the length of a pair, its position the angle; keys have learned phases",
      .paper = "Gopalakrishnan et al. 2025, arXiv 2509.10534",
      .site = Site::query_key,
      .claims = claims,
      .parameters = {key_heads_parameter(),
                     head_dim_parameter(1),
                     {.name = "channels",
                      .kind = ValueKind::integer,
                      .meaning = "how many coordinates become pairs, the first ones; absent: all",
                      .least = 1,
                      .most = 32768},
                     {.name = "axis_channels",
                      .kind = ValueKind::list,
                      .meaning = "channels per axis of the positions; absent: one axis",
                      .least = 1,
                      .most = 32768},
                     base_parameter("theta: wavelengths run from 2 pi towards 2 pi base"),
                     {.name = "phases",
                      .kind = ValueKind::tensor,
                      .meaning = "learned angles of the keys [heads, channels], clamped to -2 pi to 0"},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", std::int64_t{1}}, {"head_dim", std::int64_t{16}}, {"deviation", 0.5}},
      .variants = {{"channels=4", {{"heads", 1}, {"head_dim", 12}, {"channels", 4}, {"deviation", 0.5}}},
                   {"axis_channels=6,2",
                    {{"heads", 1}, {"head_dim", 8}, {"axis_channels", std::vector<double>{6, 2}}, {"deviation", 0.5}}}},
  };
  return scheme;
}

}  // namespace locus
