// SPDX-License-Identifier: Apache-2.0
// How much each neighbour has to say in a row that is made from neighbours: the norm of its weights.
#include <cmath>

#include "figures/registry.h"
#include "figures/schemes/hidden_values.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

Figure draw_neighbours(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const auto& from = encoding.hidden().neighbours;
  require(from.has_value(), encoding.scheme().name, " makes no rows from neighbours; the figure sinusoidal draws them");
  Json rows = Json::array();
  const auto kernel = static_cast<std::size_t>(from->kernel);
  for (std::size_t tap = 0; tap < kernel; ++tap) {
    double square = 0;
    for (std::size_t i = tap; i < from->weight.size(); i += kernel) square += from->weight[i] * from->weight[i];
    rows.push_back(
        {{"neighbour", static_cast<std::int64_t>(tap) - from->before}, {"norm", rounded(std::sqrt(square))}});
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 220;
  spec["mark"] = {{"type", "line"}, {"point", true}, {"tooltip", true}};
  spec["encoding"] = {{"x", snug("neighbour", words(Message::neighbours_axis))},
                      {"y", quantitative("norm", words(Message::neighbours_norm))}};
  return {.name = {},
          .title = words(Message::neighbours_title, {{"before", words.grouped(from->before)},
                                                     {"after", words.grouped(from->kernel - 1 - from->before)}}),
          .caption = words(Message::neighbours_caption) + random_weights_note(encoding, words),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& neighbours_figure();
const FigureKind& neighbours_figure() {
  static const FigureKind kind{
      .name = "neighbours",
      .meaning = "convolutional positions: the norm of the weights of each neighbour",
      .scheme = "conv_position",
      .arguments = {{"dim", std::int64_t{64}}, {"groups", std::int64_t{4}}, {"kernel", std::int64_t{16}}},
      .uses = {},
      .make = draw_neighbours};
  return kind;
}

}  // namespace locus::figures
