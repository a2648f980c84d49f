// SPDX-License-Identifier: Apache-2.0
// Single pairs of a query, rotated by the position: what (1, 0) becomes.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "figures/schemes/hidden_values.h"
#include "figures/schemes/rotation_values.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

std::vector<std::int64_t> pairs_of(const Request& request, std::int64_t count) {
  std::vector<std::int64_t> pairs = request.pairs;
  if (pairs
          .empty()) {  // a fast, a slower and a slow one: an eighth of the pairs later, the frequency is lower by base^(1/8)
    for (const std::int64_t pair : {std::int64_t{0}, count / 8, count / 4, count / 2}) {
      if (pairs.empty() || pair != pairs.back()) pairs.push_back(pair);
    }
  }
  require(pairs.size() <= 16, "rotation draws at most 16 pairs, got ", pairs.size());
  for (const std::int64_t pair : pairs) {
    require(pair >= 0 && pair < count, "pairs must be from 0 to ", count - 1, ", got ", pair);
  }
  return pairs;
}

/// Formats `1 rad` or `0.0316 rad`.
Figure draw_rotation(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const Rotation& rotation = encoding.rotation();
  const std::vector<std::int64_t> pairs = pairs_of(request, rotation.pairs());
  const Thinned positions = thinned(positions_or(request, 24), 4096 / pairs.size(), Message::thinned_positions, words);
  Json rows = Json::array();
  std::vector<std::string> names;
  double reach = 0;
  for (const std::int64_t pair : pairs) {
    const auto i = static_cast<std::size_t>(pair);
    names.push_back(words(Message::rotation_speed,
                          {{"pair", std::to_string(pair)}, {"speed", pretty(rounded(rotation.inv_freq[i]))}}));
    for (const Position position : positions.values) {
      const TurnedPairs turned = turned_pairs(encoding, Role::query, position);
      reach = std::max({reach, std::fabs(turned.cos[i]), std::fabs(turned.sin[i])});
      rows.push_back({{"pair", names.back()},
                      {"position", position},
                      {"x", rounded(turned.cos[i])},
                      {"y", rounded(turned.sin[i])}});
    }
  }
  const auto axis = [&](const char* field, const std::string& title) {
    Json channel = quantitative(field, title);
    channel["scale"]["domain"] = {rounded(-1.1 * std::max(reach, 1.0)), rounded(1.1 * std::max(reach, 1.0))};
    return channel;
  };
  Json facet = nominal("pair", words(Message::axis_pair));
  facet["sort"] = names;
  const auto [first, last] = std::minmax_element(positions.values.begin(), positions.values.end());
  const Json colour =
      value_colour("position", words(Message::axis_position), static_cast<double>(*first), static_cast<double>(*last));
  const Json inner = {{"width", 150},
                      {"height", 150},
                      {"mark", {{"type", "point"}, {"filled", true}, {"size", 40}, {"tooltip", true}}},
                      {"encoding",
                       {{"x", axis("x", words(Message::rotation_first))},
                        {"y", axis("y", words(Message::rotation_second))},
                        {"color", colour}}}};
  Json spec = faceted(chart(std::move(rows)), facet, 4, inner);
  return {
      .name = {},
      .title = words(Message::rotation_title),
      .caption = words(Message::rotation_caption, {{"scheme", std::string(encoding.scheme().name)}}) + positions.note,
      .spec = std::move(spec)};
}

}  // namespace

const FigureKind& rotation_figure();
const FigureKind& rotation_figure() {
  static const FigureKind kind{.name = "rotation",
                               .meaning = "pairs of a query, rotated by the position, with rope or xpos",
                               .scheme = "rope",
                               .arguments = {{"head_dim", std::int64_t{64}}, {"pairing", std::string("half")}},
                               .uses = {"positions", "pairs"},
                               .make = draw_rotation};
  return kind;
}

}  // namespace locus::figures
