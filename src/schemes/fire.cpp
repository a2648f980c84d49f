// SPDX-License-Identifier: Apache-2.0
// FIRE: the bias is a learned function of the distance, measured as a share of the query's position i,
//   bias_h(i, j) = f_h( ln(c |i - j| + 1) / (ln(c max(i, L) + 1) + eps) ),   f = w2 relu(w1 x + b1) + b2,
// so that the network sees inputs from 0 to 1 at any length. Below the threshold L the share is one of L.
// Li et al. 2023, "Functional Interpolation for Relative Positions Improves Long Context Transformers" (arXiv
// 2310.04418), section 3. The network, c > 0 and L > 0 are learned.
//
// The bias depends on the query's own position too, so it is not relative; a cached key stays right. Deviations: the
// code of mcleish7/arithmetic adds eps = 1e-6, as here, and learns a factor of a fixed L instead of L.
#include <algorithm>
#include <cmath>

#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"
#include "schemes/small_network.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::cache_safe, Claim::negative_positions, Claim::unbounded, Claim::learned};
constexpr double eps = 1e-6;

// The input of the network, and its derivatives.
struct Share {
  double c = 0, threshold = 0;

  double of(Position query, Position key) const { return std::log1p(c * distance(query, key)) / below(query); }
  double below(Position query) const { return std::log1p(c * length(query)) + eps; }
  double by_c(Position query, Position key) const {
    const double n = distance(query, key);
    return (n / (1 + c * n) - of(query, key) * below_by_c(query)) / below(query);
  }
  double by_threshold(Position query, Position key) const {
    return -of(query, key) * below_by_threshold(query) / below(query);
  }
  double below_by_c(Position query) const { return length(query) / (1 + c * length(query)); }
  double below_by_threshold(Position query) const {
    return static_cast<double>(query) >= threshold ? 0 : c / (1 + c * threshold);
  }

 private:
  static double distance(Position query, Position key) { return std::fabs(static_cast<double>(query - key)); }
  double length(Position query) const { return std::max(static_cast<double>(query), threshold); }
};

// The same as linear functions of ln(c |i - j| + 1) between the breaks of the network.
std::optional<BiasPieces> pieces_of(const SmallNetwork& network, const Share& share, std::int64_t c_at) {
  std::optional<BiasPieces> pieces = linear_pieces(network);
  if (!pieces) return pieces;
  pieces->by_distance = [c = share.c](Position distance) { return std::log1p(c * static_cast<double>(distance)); };
  pieces->distance_of = [c = share.c](double number) { return std::expm1(number) / c; };
  pieces->by_query = [share](Position query) { return 1 / share.below(query); };
  pieces->distance_slope = [c = share.c](Position distance) {
    const auto n = static_cast<double>(distance);
    return n / (1 + c * n);
  };
  pieces->add_input_gradient = [share, c_at](Position query, double with_distance, double with_slope,
                                             std::span<double> sums) {
    const double below = share.below(query), of_below = -with_distance / (below * below);
    sums[static_cast<std::size_t>(c_at)] += with_slope / below + of_below * share.below_by_c(query);
    sums[static_cast<std::size_t>(c_at + 1)] += of_below * share.below_by_threshold(query);
  };
  return pieces;
}

SchemeResult make(const Arguments& arguments) {
  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  bias.toeplitz = false;
  const std::int64_t width = arguments.integer("width");
  NetworkWeights weights("fire", arguments);
  const auto w1 = weights.tensor("w1", {width, 1}, 1), b1 = weights.tensor("b1", {width}, 1);
  const auto w2 = weights.tensor("w2", {bias.heads, width}, width), b2 = weights.tensor("b2", {bias.heads}, width);
  const std::int64_t c_at = weights.count();
  const Share share{.c = weights.positive_number("c"), .threshold = weights.positive_number("threshold")};
  const SmallNetwork network{
      .hidden = {{.in = 1, .out = width, .weight = w1.values, .bias = b1.values, .weight_at = w1.at, .bias_at = b1.at}},
      .last = {.in = width,
               .out = bias.heads,
               .weight = w2.values,
               .bias = b2.values,
               .weight_at = w2.at,
               .bias_at = b2.at}};
  bias.value = [network, share](std::int64_t head, Position query, Position key) {
    const double x = share.of(query, key);
    return network.value(head, std::span(&x, 1));
  };
  bias.network_weights = weights.count();
  bias.add_network_gradient = [network, share, c_at](std::int64_t head, Position query, Position key, double gradient,
                                                     std::span<double> sums) {
    const double x = share.of(query, key);
    double of_x = 0;
    network.add_gradient(head, std::span(&x, 1), gradient, sums, std::span(&of_x, 1));
    sums[static_cast<std::size_t>(c_at)] += of_x * share.by_c(query, key);
    sums[static_cast<std::size_t>(c_at + 1)] += of_x * share.by_threshold(query, key);
  };
  bias.pieces = pieces_of(network, share, c_at);
  return {.term = std::move(bias), .claims = claims, .learned = weights.learned()};
}

}  // namespace

const Scheme& fire_scheme();
const Scheme& fire_scheme() {
  static const Scheme scheme{
      .name = "fire",
      .title = "FIRE",
      .summary = "a small learned network over the distance as a share of the query's position",
      .paper = "Li et al. 2023, arXiv 2310.04418",
      .site = Site::score,
      .claims = claims,
      .parameters = {heads_parameter(),
                     {.name = "width",
                      .kind = ValueKind::integer,
                      .meaning = "width of the network's hidden layer",
                      .fallback = std::int64_t{32},
                      .least = 1,
                      .most = 65536},
                     network_tensor("w1", "first layer [width, 1]"),
                     network_tensor("b1", "its bias [width]"),
                     network_tensor("w2", "second layer [heads, width]"),
                     network_tensor("b2", "its bias [heads]"),
                     {.name = "c",
                      .kind = ValueKind::list,
                      .meaning = "factor of the distance inside the logarithm, one number",
                      .fallback = std::vector<double>{0.1},
                      .least = 0,
                      .above_least = true},
                     {.name = "threshold",
                      .kind = ValueKind::list,
                      .meaning = "position below which distances are a share of it (L), one number",
                      .fallback = std::vector<double>{512},
                      .least = 0,
                      .above_least = true},
                     seed_parameter(),
                     network_deviation()},
      .make = make,
      .example = {{"heads", std::int64_t{8}}, {"threshold", std::vector<double>{16}}},
      .variants = {{"threshold=512", {{"heads", 2}, {"width", 4}, {"threshold", std::vector<double>{512}}}}},
  };
  return scheme;
}

}  // namespace locus
