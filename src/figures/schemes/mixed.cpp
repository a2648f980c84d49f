// SPDX-License-Identifier: Apache-2.0
// FoPE: the cosine of a pair is a sum of the cosines of all frequencies, so a slow pair has a fast part too.
#include "figures/registry.h"
#include "figures/schemes/hidden_values.h"
#include "figures/spec.h"
#include "locus/error.h"
#include "locus/reference.h"

namespace locus::figures {
namespace {

Figure draw_mixed(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  require(rotation != nullptr && rotation->mix, encoding.scheme().name, " mixes no frequencies");
  const std::vector<std::int64_t> pairs = request.pairs.empty() ? spread(rotation->pairs(), 4) : request.pairs;
  const Thinned positions = thinned(positions_or(request, 256), 2048 / pairs.size(), Message::thinned_positions, words);
  const std::string plain = words(Message::mixed_plain), mixed = words(Message::mixed_mixed);
  Json rows = Json::array();
  std::vector<std::string> names;
  for (const std::int64_t pair : pairs) {
    require(pair >= 0 && pair < rotation->pairs(), "pairs must be from 0 to ", rotation->pairs() - 1, ", got ", pair);
    names.push_back(words(Message::mixed_pair, {{"pair", std::to_string(pair)}}));
    for (const Position position : positions.values) {
      const Position id[] = {position};
      std::vector<double> cos(static_cast<std::size_t>(rotation->pairs())), sin(cos.size());
      reference::rotation_row(*rotation, Role::query, id, cos, sin);
      const auto add = [&](const std::string& which) {
        rows.push_back({{"position", position},
                        {"pair", names.back()},
                        {"which", which},
                        {"cosine", rounded(cos[static_cast<std::size_t>(pair)])}});
      };
      add(plain);
      reference::mix_row(*rotation, 0, cos, sin);
      add(mixed);
    }
  }
  Json facet = nominal("pair", "");
  facet["sort"] = names;
  const Json inner = {{"width", 240},
                      {"height", 110},
                      {"mark", {{"type", "line"}, {"tooltip", true}}},
                      {"encoding",
                       {{"x", snug("position", words(Message::mixed_position))},
                        {"y", quantitative("cosine", words(Message::mixed_cosine))},
                        {"color", category_colour("which", "", {plain, mixed})}}}};
  return {.name = {},
          .title = words(Message::mixed_title),
          .caption = words(Message::mixed_caption) + positions.note + random_weights_note(encoding, words),
          .spec = faceted(chart(std::move(rows)), facet, 2, inner)};
}

}  // namespace

const FigureKind& mixed_figure();
const FigureKind& mixed_figure() {
  static const FigureKind kind{
      .name = "mixed",
      .meaning = "FoPE: the cosines of some pairs by position, mixed over all frequencies, and alone",
      .scheme = "fope",
      .arguments = {{"heads", std::int64_t{1}}, {"head_dim", std::int64_t{32}}, {"deviation", 0.1}},
      .uses = {"positions", "pairs"},
      .make = draw_mixed};
  return kind;
}

}  // namespace locus::figures
