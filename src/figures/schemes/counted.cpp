// SPDX-License-Identifier: Apache-2.0
// CoPE's positions: gates count tokens from the key to the query, so what they open for is the unit of position.
#include <algorithm>
#include <cmath>

#include "figures/registry.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

constexpr std::int64_t word_length = 6;

Figure draw_counted(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const RelativeKeys& keys = encoding.relative_keys();
  require(keys.counted, encoding.scheme().name, " does not count positions");
  const auto last_row = static_cast<double>(keys.key_table.dim(0) - 1);
  struct Curve {
    std::string name;
    double (*gate)(std::int64_t distance);
  };
  const Curve curves[] = {
      {words(Message::counted_all), [](std::int64_t) { return 1.0; }},
      {words(Message::counted_half), [](std::int64_t) { return 0.5; }},
      {words(Message::counted_words), [](std::int64_t distance) { return distance % word_length == 0 ? 1.0 : 0.0; }}};
  const Thinned distances =
      thinned(request.positions.empty() ? range(0, 127) : request.positions, 4096, Message::thinned_distances, words);
  Json rows = Json::array();
  std::vector<std::string> names;
  for (const Curve& curve : curves) {
    names.push_back(curve.name);
    for (const Position distance : distances.values) {
      require(distance >= 0 && distance <= 65536, "distances must be from 0 to 65536, got ", distance);
      double count = 0;
      for (std::int64_t d = 0; d <= distance; ++d) count += curve.gate(d);  // the query's own gate counts too
      rows.push_back({{"distance", distance}, {"gates", curve.name}, {"position", rounded(std::min(count, last_row))}});
    }
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 240;
  spec["mark"] = {{"type", "line"}, {"tooltip", true}};
  spec["encoding"] = {{"x", snug("distance", words(Message::distance_axis))},
                      {"y", quantitative("position", words(Message::counted_axis))},
                      {"color", category_colour("gates", words(Message::counted_gates), names)}};
  return {.name = {},
          .title = words(Message::counted_title),
          .caption = words(Message::counted_caption, {{"rows", words.grouped(keys.key_table.dim(0))}}) + distances.note,
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& counted_figure();
const FigureKind& counted_figure() {
  static const FigureKind kind{
      .name = "counted",
      .meaning = "CoPE's counted positions by distance, for three kinds of gates (--positions: distances)",
      .scheme = "cope",
      .arguments = {{"heads", std::int64_t{1}}, {"head_dim", std::int64_t{32}}, {"max_positions", std::int64_t{64}}},
      .uses = {"positions"},
      .make = draw_counted};
  return kind;
}

}  // namespace locus::figures
