// SPDX-License-Identifier: Apache-2.0
// Transformer-XL's position term by distance: v . (W_r R_n), which does not depend on the query.
#include <algorithm>

#include "figures/schemes/hidden_values.h"
#include "figures/schemes/score_values.h"
#include "figures/spec.h"
#include "locus/error.h"
#include "locus/reference.h"

namespace locus::figures {
namespace {

Figure draw_transformer_xl(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const RelativeKeys& keys = encoding.relative_keys();
  require(keys.index == nullptr, encoding.scheme().name, " chooses rows by offset; the figure shaw draws them");
  const std::vector<std::int64_t> heads = heads_of(request, keys.heads, 4);
  const Thinned distances = thinned(request.positions.empty() ? range(-32, 128) : request.positions,
                                    4096 / heads.size(), Message::thinned_distances, words);
  const std::vector<double> nothing(static_cast<std::size_t>(keys.head_dim));
  const Position key = std::max<Position>(0, -*std::min_element(distances.values.begin(), distances.values.end()));
  Json rows = Json::array();
  std::vector<std::string> names;
  for (const std::int64_t head : heads) {
    names.push_back(words(Message::name_head, {{"head", std::to_string(head)}}));
    for (const Position distance : distances.values) {
      // With zero query and key, the score is v . (W_r R_n).
      const double term = reference::relative_score(keys, head, {nothing, nothing, key + distance, key}, 1);
      rows.push_back({{"distance", distance}, {"head", names.back()}, {"term", rounded(term)}});
    }
  }
  Json facet = nominal("head", "");
  facet["sort"] = names;
  const Json inner = {
      {"width", 240},
      {"height", 110},
      {"mark", {{"type", "line"}, {"tooltip", true}}},
      {"encoding",
       {{"x", snug("distance", words(Message::xl_axis))}, {"y", quantitative("term", words(Message::xl_term))}}}};
  Json spec = faceted(chart(std::move(rows)), facet, 2, inner);
  return {.name = {},
          .title = words(Message::xl_title),
          .caption = words(Message::xl_caption, {{"scheme", std::string(encoding.scheme().name)}}) + distances.note +
                     random_weights_note(encoding, words),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& transformer_xl_figure();
const FigureKind& transformer_xl_figure() {
  static const FigureKind kind{
      .name = "transformer-xl",
      .meaning = "Transformer-XL's position term by distance, by head (--positions: distances)",
      .scheme = "transformer_xl",
      .arguments = {{"heads", std::int64_t{4}}, {"head_dim", std::int64_t{32}}, {"deviation", 0.1}},
      .uses = {"positions", "heads"},
      .make = draw_transformer_xl};
  return kind;
}

}  // namespace locus::figures
