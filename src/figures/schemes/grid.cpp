// SPDX-License-Identifier: Apache-2.0
// What one cell of a grid adds to the scores of all cells: decomposed relative keys, or a bias over a window.
#include <algorithm>
#include <cmath>

#include "figures/schemes/hidden_values.h"
#include "figures/schemes/score_values.h"
#include "figures/spec.h"
#include "locus/error.h"
#include "locus/reference.h"

namespace locus::figures {
namespace {

/// What is added to the score of two cells by their offset alone; of relative keys for a query of equal coordinates.
double added(const Encoding& encoding, std::int64_t head, Position query, Position key) {
  if (encoding.site() == Site::score) return encoding.score().value(head, query, key);
  const RelativeKeys& keys = encoding.relative_keys();
  const auto dim = static_cast<std::size_t>(keys.head_dim);
  const std::vector<double> ones(dim, 1 / std::sqrt(static_cast<double>(dim))), nothing(dim);
  return reference::relative_score(keys, head, {ones, nothing, query, key}, 1);
}

Figure draw_grid(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const Arguments& arguments = encoding.arguments();
  const bool window = arguments.has("window_height");
  require(window || arguments.has("grid_height"), encoding.scheme().name, " is not for a grid");
  const std::int64_t height = arguments.integer(window ? "window_height" : "grid_height"),
                     width = arguments.integer(window ? "window_width" : "grid_width");
  require(height * width <= 4096, "the figure grid draws at most 4096 cells, got ", height * width);
  require(!arguments.has("key_height") && !arguments.has("key_width"),
          "the figure grid draws queries and keys of one grid");
  const std::int64_t heads = encoding.site() == Site::score ? encoding.score().heads : encoding.relative_keys().heads;
  const Position query = height / 2 * width + width / 2;
  Json rows = Json::array();
  double low = 0, high = 0;
  std::size_t most = 1;
  while ((most + 1) * static_cast<std::size_t>(height * width) <= most_rows && most < 4) ++most;
  for (const std::int64_t head : heads_of(request, heads, static_cast<std::int64_t>(most))) {
    for (Position key = 0; key < height * width; ++key) {
      const double value = rounded(added(encoding, head, query, key));
      low = std::min(low, value);
      high = std::max(high, value);
      rows.push_back({{"head", head}, {"row", key / width}, {"column", key % width}, {"bias", value}});
    }
  }
  const Json inner = {{"width", 160},
                      {"height", 160},
                      {"mark", {{"type", "rect"}, {"tooltip", true}}},
                      {"encoding",
                       {{"x", bands("column", words(Message::cells_column), range(0, width - 1))},
                        {"y", bands("row", words(Message::cells_row), range(0, height - 1))},
                        {"color", value_colour("bias", words(Message::axis_added_to_score), low, high)}}}};
  const Json facet = {{"field", "head"}, {"type", "ordinal"}, {"title", words(Message::axis_head)}};
  return {.name = {},
          .title = words(Message::cells_title,
                         {{"row", words.grouped(query / width)}, {"column", words.grouped(query % width)}}),
          .caption = words(Message::cells_caption, {{"scheme", std::string(encoding.scheme().name)}}) +
                     random_weights_note(encoding, words),
          .spec = faceted(chart(std::move(rows)), facet, 4, inner)};
}

}  // namespace

const FigureKind& grid_figure();
const FigureKind& grid_figure() {
  static const FigureKind kind{.name = "grid",
                               .meaning = "what one cell of a grid adds to the scores of all cells, by head",
                               .scheme = "decomposed_2d",
                               .arguments = {{"heads", std::int64_t{2}},
                                             {"head_dim", std::int64_t{16}},
                                             {"grid_height", std::int64_t{14}},
                                             {"grid_width", std::int64_t{14}},
                                             {"deviation", 0.5}},
                               .uses = {"heads"},
                               .make = draw_grid};
  return kind;
}

}  // namespace locus::figures
