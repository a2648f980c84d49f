// SPDX-License-Identifier: Apache-2.0
// Convolutional positions: a token's row is made from its neighbours' vectors, so it is the order of the tokens that
// counts, not their ids. For the vectors x of a run of consecutive ids, zero outside it,
//   row_t = gelu(b + sum_j W_j x_(t + j - kernel / 2)),  j = 0 ... kernel - 1,
// with W_j block-diagonal in `groups` blocks; wav2vec 2.0 (Baevski et al. 2020, arXiv 2006.11477, section 2) after Mohamed
// et al. 2019 (arXiv 1904.11660). The convolution does not flip its kernel, and GELU is exact (erf). An even kernel has one
// more tap before the token than after it: implementations pad kernel / 2 on both sides and drop the last output.
//
//   weight_gain   weight normalisation per tap: W_j has the Frobenius norm weight_gain[j]
//   norm_*        batch normalisation of the inputs with running statistics instead (HuBERT); zeros are padded after it
//   causal        all taps are before the token or at it: then a token's row does not change as the sequence grows
#include <cmath>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::negative_positions, Claim::unbounded, Claim::learned};

// A tensor of `count` values, or this one for all of them.
std::vector<double> per_channel(const Arguments& arguments, std::string_view name, std::int64_t count,
                                double fallback) {
  if (!arguments.has(name)) return std::vector<double>(static_cast<std::size_t>(count), fallback);
  const Tensor given = weights_or_normal("conv_position", arguments, name, {count});
  return {given.data.begin(), given.data.end()};
}

void normalise_taps(Neighbours& from, const std::vector<double>& gain) {
  const auto kernel = static_cast<std::size_t>(from.kernel);
  for (std::size_t j = 0; j < kernel; ++j) {
    double square = 0;
    for (std::size_t at = j; at < from.weight.size(); at += kernel) square += from.weight[at] * from.weight[at];
    require(square > 0, "conv_position.weight_gain needs a weight other than 0 at every tap, got 0 at tap ", j);
    const double factor = gain[j] / std::sqrt(square);
    for (std::size_t at = j; at < from.weight.size(); at += kernel) from.weight[at] *= factor;
  }
}

// x becomes (x - mean) / sqrt(variance + epsilon) * scale + shift.
void take_norm(Neighbours& from, const Arguments& arguments, std::int64_t dim) {
  const bool given = arguments.has("norm_mean") || arguments.has("norm_variance");
  require(given || (!arguments.has("norm_scale") && !arguments.has("norm_shift")),
          "conv_position.norm_scale and norm_shift need norm_mean and norm_variance");
  if (!given) return;
  require(arguments.has("norm_mean") && arguments.has("norm_variance"),
          "conv_position.norm_mean and norm_variance must be given together");
  const std::vector<double> mean = per_channel(arguments, "norm_mean", dim, 0),
                            variance = per_channel(arguments, "norm_variance", dim, 1),
                            scale = per_channel(arguments, "norm_scale", dim, 1),
                            shift = per_channel(arguments, "norm_shift", dim, 0);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    require(variance[c] >= 0, "conv_position.norm_variance must be at least 0, got ", variance[c], " in channel ", c);
    const double factor = scale[c] / std::sqrt(variance[c] + arguments.real("norm_epsilon"));
    from.input_scale.push_back(factor);
    from.input_shift.push_back(shift[c] - mean[c] * factor);
  }
}

SchemeResult make(const Arguments& arguments) {
  HiddenRows rows;
  rows.dim = arguments.integer("dim");
  Neighbours from;
  from.groups = arguments.integer("groups");
  from.kernel = arguments.integer("kernel");
  require(rows.dim % from.groups == 0, "conv_position.groups must divide dim (", rows.dim, "), got ", from.groups);
  from.before = arguments.boolean("causal") ? from.kernel - 1 : from.kernel / 2;
  const std::vector<std::int64_t> shape{rows.dim, rows.dim / from.groups, from.kernel};
  const Tensor weight = weights_or_normal("conv_position", arguments, "weight", shape);
  from.weight.assign(weight.data.begin(), weight.data.end());
  from.bias = per_channel(arguments, "bias", rows.dim, 0);
  if (arguments.has("weight_gain")) normalise_taps(from, per_channel(arguments, "weight_gain", from.kernel, 1));
  take_norm(from, arguments, rows.dim);
  rows.neighbours = std::move(from);
  const double fan_in = static_cast<double>(shape[1] * shape[2]);
  return {.term = std::move(rows),
          .claims = arguments.boolean("causal") ? claims.with(Claim::cache_safe) : claims,
          .learned = {{.name = "weight",
                       .shape = shape,
                       .deviation = 2 / std::sqrt(fan_in),
                       .gradient = LearnedGradient::hidden_rows}}};
}

Parameter channel_tensor(std::string_view name, std::string_view meaning) {
  return {.name = name, .kind = ValueKind::tensor, .meaning = meaning};
}

}  // namespace

const Scheme& conv_position_scheme();
const Scheme& conv_position_scheme() {
  static const Scheme scheme{
      .name = "conv_position",
      .title = "convolutional",
      .summary = "a row made from the vectors of the neighbours by a grouped convolution, added to the hidden state",
      .paper = "Mohamed et al. 2019, arXiv 1904.11660; Baevski et al. 2020, arXiv 2006.11477",
      .site = Site::hidden,
      .claims = claims,
      .parameters = {{.name = "dim",
                      .kind = ValueKind::integer,
                      .meaning = "width of the hidden state",
                      .required = true,
                      .least = 1,
                      .most = 65536},
                     {.name = "groups",
                      .kind = ValueKind::integer,
                      .meaning = "groups of channels that are convolved separately",
                      .fallback = std::int64_t{16},
                      .least = 1,
                      .most = 65536},
                     {.name = "kernel",
                      .kind = ValueKind::integer,
                      .meaning = "taps: how many neighbours make a row",
                      .fallback = std::int64_t{128},
                      .least = 1,
                      .most = 65536},
                     {.name = "causal",
                      .kind = ValueKind::boolean,
                      .meaning = "take no neighbours after the token",
                      .fallback = false},
                     channel_tensor("weight", "taps [dim, dim / groups, kernel]"),
                     channel_tensor("weight_gain",
                                    "norm of each tap [kernel] (weight normalisation); absent: as given"),
                     channel_tensor("bias", "[dim]; absent: 0"),
                     channel_tensor("norm_mean", "batch normalisation of the inputs: running mean [dim]"),
                     channel_tensor("norm_variance", "running variance [dim]"),
                     channel_tensor("norm_scale", "[dim]; absent: 1"),
                     channel_tensor("norm_shift", "[dim]; absent: 0"),
                     {.name = "norm_epsilon",
                      .kind = ValueKind::real,
                      .meaning = "added to the running variance",
                      .fallback = 1e-5,
                      .least = 0},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"dim", 16}, {"groups", 4}, {"kernel", 5}, {"deviation", 0.3}},
      .variants = {{"causal=true", {{"dim", 16}, {"groups", 2}, {"kernel", 4}, {"causal", true}, {"deviation", 0.3}}},
                   {"kernel=4 groups=16", {{"dim", 16}, {"groups", 16}, {"kernel", 4}, {"deviation", 0.3}}}},
  };
  return scheme;
}

}  // namespace locus
