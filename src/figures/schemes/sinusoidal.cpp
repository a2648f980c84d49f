// SPDX-License-Identifier: Apache-2.0
// The rows that are added to the hidden state, as a heatmap: position by dimension.
#include <algorithm>

#include "figures/schemes/hidden_values.h"
#include "figures/spec.h"

namespace locus::figures {
namespace {

Figure draw_sinusoidal(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const std::int64_t dim = encoding.hidden().dim;
  const Thinned columns = thinned(range(0, dim - 1), 256, Message::thinned_dimensions, words);
  const Thinned positions =
      thinned(positions_or(request, 96), std::max<std::size_t>(most_rows / columns.values.size(), 1),
              Message::thinned_positions, words);
  const std::vector<std::vector<double>> values = hidden_rows(encoding, positions.values);
  Json rows = Json::array();
  double reach = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (const std::int64_t column : columns.values) {
      const double value = rounded(values[i][static_cast<std::size_t>(column)]);
      reach = std::max(reach, std::max(value, -value));
      rows.push_back({{"position", positions.values[i]}, {"dimension", column}, {"value", value}});
    }
  }
  const bool waves = !encoding.hidden().waves.empty();
  if (waves) reach = 1;
  Json spec = chart(std::move(rows));
  spec["height"] = 320;
  spec["mark"] = {{"type", "rect"}, {"tooltip", true}};
  spec["encoding"] = {{"x", bands("dimension", words(Message::sinusoidal_dimension), columns.values)},
                      {"y", bands("position", words(Message::axis_position), positions.values)},
                      {"color", value_colour("value", words(Message::sinusoidal_value), -reach, reach)}};
  return {.name = {},
          .title = words(waves ? Message::sinusoidal_title_waves : Message::sinusoidal_title),
          .caption = words(Message::sinusoidal_caption, {{"scheme", std::string(encoding.scheme().name)}}) +
                     positions.note + columns.note + random_weights_note(encoding, words),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& sinusoidal_figure();
const FigureKind& sinusoidal_figure() {
  static const FigureKind kind{.name = "sinusoidal",
                               .meaning = "the rows added to the hidden state: position by dimension",
                               .scheme = "sinusoidal",
                               .arguments = {{"dim", std::int64_t{64}}},
                               .uses = {"positions"},
                               .make = draw_sinusoidal};
  return kind;
}

}  // namespace locus::figures
