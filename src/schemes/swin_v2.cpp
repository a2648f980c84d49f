// SPDX-License-Identifier: Apache-2.0
// Swin V2's continuous position bias: a small learned network over the offset of two cells of a window,
//   bias_h = 16 sigmoid(w2_h relu(w1 (x, y) + b1)),   x, y = sign(c) log2(|c| + 1) / log2 8,
//   c = 8 offset / (pretrained - 1), or 8 offset / (window - 1) without a pretrained window; offset = query - key,
// rows first. Ids are the cells of a height x width window in row-major order.
// Liu et al. 2021, "Swin Transformer V2: Scaling Up Capacity and Resolution" (arXiv 2111.09883), section 3.3.
//
// The model's score is a cosine: the caller normalises queries and keys and multiplies the query by its head's
// exp(min(logit_scale, ln 100)); the softmax scale is 1. Deviation: the paper's coordinates are sign(c) ln(1 + |c|);
// the released models use the form above, whose inputs are from -1 to 1 in the pretrained window.
#include <algorithm>
#include <array>
#include <cmath>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"
#include "schemes/small_network.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::learned, Claim::cache_safe};

double coordinate(std::int64_t offset, std::int64_t window, std::int64_t pretrained) {
  const std::int64_t extent = pretrained > 0 ? pretrained - 1 : std::max<std::int64_t>(window - 1, 1);
  const double c = 8 * static_cast<double>(offset) / static_cast<double>(extent);
  return std::copysign(std::log2(std::fabs(c) + 1) / 3, c);
}

struct Window {
  std::int64_t height, width, pretrained_height, pretrained_width;

  std::array<double, 2> input(Position query, Position key) const {
    return {coordinate(query / width - key / width, height, pretrained_height),
            coordinate(query % width - key % width, width, pretrained_width)};
  }
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::int64_t pretrained_extent(const Arguments& arguments, std::string_view name) {
  const std::int64_t extent = arguments.integer(name);
  require(extent != 1, "swin_v2.", name, " must be 0 (none) or at least 2, got 1");
  return extent;
}

SchemeResult make(const Arguments& arguments) {
  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  bias.toeplitz = false;
  bias.softmax_scale = 1.0;
  const Window window{.height = arguments.integer("window_height"),
                      .width = arguments.integer("window_width"),
                      .pretrained_height = pretrained_extent(arguments, "pretrained_height"),
                      .pretrained_width = pretrained_extent(arguments, "pretrained_width")};
  require((window.pretrained_height == 0) == (window.pretrained_width == 0),
          "swin_v2.pretrained_height and pretrained_width must both be 0 or both be given, got ",
          window.pretrained_height, " and ", window.pretrained_width);
  const std::int64_t width = arguments.integer("width");
  NetworkWeights weights("swin_v2", arguments);
  const auto w1 = weights.tensor("w1", {width, 2}, 2), b1 = weights.tensor("b1", {width}, 2);
  const auto w2 = weights.tensor("w2", {bias.heads, width}, width);
  const SmallNetwork network{
      .hidden = {{.in = 2, .out = width, .weight = w1.values, .bias = b1.values, .weight_at = w1.at, .bias_at = b1.at}},
      .last = {.in = width, .out = bias.heads, .weight = w2.values, .bias = {}, .weight_at = w2.at}};
  // Every offset of the window, once: [offsets of rows][offsets of columns][heads].
  const std::int64_t columns = 2 * window.width - 1;
  std::vector<double> table;
  for (std::int64_t row = 1 - window.height; row < window.height; ++row) {
    for (std::int64_t column = 1 - window.width; column < window.width; ++column) {
      const std::array<double, 2> x{coordinate(row, window.height, window.pretrained_height),
                                    coordinate(column, window.width, window.pretrained_width)};
      for (std::int64_t head = 0; head < bias.heads; ++head) table.push_back(16 * sigmoid(network.value(head, x)));
    }
  }
  bias.value = [table = std::move(table), window, columns, heads = bias.heads](std::int64_t head, Position query,
                                                                               Position key) {
    const std::int64_t row = query / window.width - key / window.width + window.height - 1;
    const std::int64_t column = query % window.width - key % window.width + window.width - 1;
    return table[static_cast<std::size_t>((row * columns + column) * heads + head)];
  };
  bias.network_weights = weights.count();
  bias.add_network_gradient = [network, window](std::int64_t head, Position query, Position key, double gradient,
                                                std::span<double> sums) {
    const std::array<double, 2> x = window.input(query, key);
    const double part = sigmoid(network.value(head, x));
    network.add_gradient(head, x, gradient * 16 * part * (1 - part), sums);
  };
  bias.max_id = window.height * window.width;
  const PositionRange range{0, *bias.max_id - 1};
  return {.term = std::move(bias),
          .claims = claims,
          .learned = weights.learned(),
          .range = range,
          .range_reason = "the cells of its window"};
}

Parameter extent(std::string_view name, std::string_view meaning, std::int64_t least) {
  return {
      .name = name, .kind = ValueKind::integer, .meaning = meaning, .least = static_cast<double>(least), .most = 1024};
}

}  // namespace

const Scheme& swin_v2_scheme();
const Scheme& swin_v2_scheme() {
  static const Scheme scheme = [] {
    Parameter height = extent("window_height", "rows of the window", 1),
              width = extent("window_width", "its columns", 1);
    Parameter before_height = extent("pretrained_height", "rows of the window in pretraining; 0: the same", 0);
    Parameter before_width = extent("pretrained_width", "its columns", 0);
    height.required = width.required = true;
    before_height.fallback = before_width.fallback = std::int64_t{0};
    return Scheme{
        .name = "swin_v2",
        .title = "Swin V2",
        .summary = "a small learned network over the offset of two cells of a window",
        .paper = "Liu et al. 2021, arXiv 2111.09883",
        .site = Site::score,
        .claims = claims,
        .parameters = {heads_parameter(),
                       height,
                       width,
                       before_height,
                       before_width,
                       {.name = "width",
                        .kind = ValueKind::integer,
                        .meaning = "width of the network's hidden layer",
                        .fallback = std::int64_t{512},
                        .least = 1,
                        .most = 65536},
                       network_tensor("w1", "first layer [width, 2]"),
                       network_tensor("b1", "its bias [width]"),
                       network_tensor("w2", "second layer [heads, width]"),
                       seed_parameter(),
                       network_deviation()},
        .make = make,
        .example = {{"heads", 4}, {"window_height", 8}, {"window_width", 8}, {"width", 16}},
        .variants = {{"pretrained_height=6",
                      {{"heads", 2},
                       {"window_height", 5},
                       {"window_width", 3},
                       {"pretrained_height", 6},
                       {"pretrained_width", 4},
                       {"width", 8}}}},
        .compared = ComparedIn::never,
    };
  }();
  return scheme;
}

}  // namespace locus
