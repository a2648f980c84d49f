// SPDX-License-Identifier: Apache-2.0
// The number that a score scheme adds, by the distance between query and key, one curve per head.
#include <algorithm>

#include "figures/schemes/hidden_values.h"
#include "figures/schemes/score_values.h"
#include "figures/spec.h"
#include "locus/bias.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

Figure draw_distance(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  require(encoding.score().toeplitz, encoding.scheme().name,
          " is not a function of distance with these settings; the figure bias draws it");
  const std::vector<std::int64_t> heads = heads_of(request, encoding.score().heads, 6);
  const Thinned distances = thinned(request.positions.empty() ? range(0, 128) : request.positions, 4096 / heads.size(),
                                    Message::thinned_distances, words);
  for (const Position distance : distances.values) {
    require(distance >= 0, "distances must not be negative, got ", distance);
  }
  const Position query = *std::max_element(distances.values.begin(), distances.values.end());
  std::vector<Position> keys;
  for (const Position distance : distances.values) keys.push_back(query - distance);
  const std::vector<double> values = bias_matrix(encoding, std::span(&query, 1), keys);
  Json rows = Json::array();
  std::vector<std::string> names;
  for (const std::int64_t head : heads) {
    names.push_back(words(Message::name_head, {{"head", std::to_string(head)}}));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      rows.push_back({{"distance", distances.values[i]},
                      {"head", names.back()},
                      {"bias", rounded(values[static_cast<std::size_t>(head) * keys.size() + i])}});
    }
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 240;
  spec["mark"] = {{"type", "line"}, {"tooltip", true}};
  spec["encoding"] = {{"x", snug("distance", words(Message::distance_axis))},
                      {"y", quantitative("bias", words(Message::axis_added_to_score))},
                      {"color", category_colour("head", words(Message::axis_head), names)}};
  const Claims claims = encoding.claims();
  const std::string scheme(encoding.scheme().name);
  std::string finding = words(Message::distance_title, {{"scheme", scheme}});
  if (claims.has(Claim::linear_in_distance))
    finding = words(Message::distance_title_linear);
  else if (claims.has(Claim::decaying))
    finding = words(Message::distance_title_decaying);
  return {.name = {},
          .title = finding,
          .caption = words(Message::distance_caption, {{"scheme", scheme}}) + distances.note +
                     random_weights_note(encoding, words),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& distance_figure();
const FigureKind& distance_figure() {
  static const FigureKind kind{
      .name = "distance",
      .meaning = "the number that a score scheme adds, by distance and head (--positions: distances)",
      .scheme = "kerple",
      .arguments = {{"heads", std::int64_t{4}}, {"r1", std::vector<double>{0.25, 0.5, 1, 2}}},
      .uses = {"positions", "heads"},
      .make = draw_distance};
  return kind;
}

}  // namespace locus::figures
