// SPDX-License-Identifier: Apache-2.0
// Dynamic position bias: a small learned network over the offset n = query - key,
//   bias_h(n) = (w_out y + b_out)_h,   y = silu(norm(w y' + b)) `depth` times, from y' = n, or sign(n) ln(|n| + 1).
// Wang et al. 2021, "CrossFormer" (arXiv 2108.00154), section 3.3, for cells of a window; for sequences as
// x-transformers' DynamicPositionBias, which this follows: SiLU where the paper has ReLU, the norm optional.
//
// The first norm has no offset (beta) there, since x-transformers' own layer norm has none.
#include <cmath>

#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"
#include "schemes/small_network.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions, Claim::unbounded,
                        Claim::learned};

std::vector<double> part_of(const std::vector<double>& all, std::int64_t index, std::int64_t size) {
  const auto from = all.begin() + index * size;
  return all.empty() ? all : std::vector<double>(from, from + size);
}

SmallNetwork network_of(const Arguments& arguments, NetworkWeights& weights, std::int64_t heads) {
  const std::int64_t width = arguments.integer("width"), depth = arguments.integer("depth");
  SmallNetwork network{.hidden = {}, .last = {}, .activation = Activation::silu};
  const auto w_in = weights.tensor("w_in", {width, 1}, 1), b_in = weights.tensor("b_in", {width}, 1);
  network.hidden.push_back(
      {.in = 1, .out = width, .weight = w_in.values, .bias = b_in.values, .weight_at = w_in.at, .bias_at = b_in.at});
  if (depth > 1) {
    const auto w = weights.tensor("w", {depth - 1, width, width}, width),
               b = weights.tensor("b", {depth - 1, width}, width);
    for (std::int64_t l = 0; l < depth - 1; ++l) {
      network.hidden.push_back({.in = width,
                                .out = width,
                                .weight = part_of(w.values, l, width * width),
                                .bias = part_of(b.values, l, width),
                                .weight_at = w.at + l * width * width,
                                .bias_at = b.at + l * width});
    }
  }
  if (arguments.boolean("norm")) {
    const auto gamma = weights.factors("gamma", {depth, width});
    for (std::int64_t l = 0; l < depth; ++l) {
      network.hidden[static_cast<std::size_t>(l)].gamma = part_of(gamma.values, l, width);
      network.hidden[static_cast<std::size_t>(l)].gamma_at = gamma.at + l * width;
    }
    if (depth > 1) {
      const auto beta = weights.tensor("beta", {depth - 1, width}, width);
      for (std::int64_t l = 1; l < depth; ++l) {
        network.hidden[static_cast<std::size_t>(l)].beta = part_of(beta.values, l - 1, width);
        network.hidden[static_cast<std::size_t>(l)].beta_at = beta.at + (l - 1) * width;
      }
    }
  }
  const auto w_out = weights.tensor("w_out", {heads, width}, width), b_out = weights.tensor("b_out", {heads}, width);
  network.last = {.in = width,
                  .out = heads,
                  .weight = w_out.values,
                  .bias = b_out.values,
                  .weight_at = w_out.at,
                  .bias_at = b_out.at};
  return network;
}

SchemeResult make(const Arguments& arguments) {
  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  NetworkWeights weights("dynamic_bias", arguments);
  const SmallNetwork network = network_of(arguments, weights, bias.heads);
  const auto input = [logarithmic = arguments.boolean("log_distance")](Position query, Position key) {
    const auto offset = static_cast<double>(query - key);
    return logarithmic ? std::copysign(std::log1p(std::fabs(offset)), offset) : offset;
  };
  bias.value = [network, input](std::int64_t head, Position query, Position key) {
    const double x = input(query, key);
    return network.value(head, std::span(&x, 1));
  };
  bias.network_weights = weights.count();
  bias.add_network_gradient = [network, input](std::int64_t head, Position query, Position key, double gradient,
                                               std::span<double> sums) {
    const double x = input(query, key);
    network.add_gradient(head, std::span(&x, 1), gradient, sums);
  };
  return {.term = std::move(bias), .claims = claims, .learned = weights.learned()};
}

}  // namespace

const Scheme& dynamic_bias_scheme();
const Scheme& dynamic_bias_scheme() {
  static const Scheme scheme{
      .name = "dynamic_bias",
      .title = "dynamic bias",
      .summary = "a small learned network over the offset",
      .paper = "Wang et al. 2021, arXiv 2108.00154",
      .site = Site::score,
      .claims = claims,
      .parameters =
          {heads_parameter(),
           {.name = "width",
            .kind = ValueKind::integer,
            .meaning = "width of the hidden layers",
            .fallback = std::int64_t{16},
            .least = 1,
            .most = 65536},
           {.name = "depth",
            .kind = ValueKind::integer,
            .meaning = "number of hidden layers",
            .fallback = std::int64_t{2},
            .least = 1,
            .most = 64},
           {.name = "log_distance",
            .kind = ValueKind::boolean,
            .meaning = "give the network the logarithm of the offset, with its sign",
            .fallback = false},
           {.name = "norm", .kind = ValueKind::boolean, .meaning = "layer norm before every SiLU", .fallback = false},
           network_tensor("w_in", "first layer [width, 1]"),
           network_tensor("b_in", "its bias [width]"),
           network_tensor("w", "other hidden layers [depth - 1, width, width]"),
           network_tensor("b", "their biases [depth - 1, width]"),
           network_tensor("gamma", "norm: factors [depth, width]"),
           network_tensor("beta", "norm: offsets of all layers but the first [depth - 1, width]"),
           network_tensor("w_out", "last layer [heads, width]"),
           network_tensor("b_out", "its bias [heads]"),
           seed_parameter(),
           network_deviation()},
      .make = make,
      .example = {{"heads", std::int64_t{4}}},
      .variants = {{"norm=true", {{"heads", 2}, {"width", 4}, {"depth", 3}, {"norm", true}}},
                   {"log_distance=true", {{"heads", 2}, {"width", 4}, {"depth", 1}, {"log_distance", true}}}},
  };
  return scheme;
}

}  // namespace locus
