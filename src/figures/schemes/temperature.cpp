// SPDX-License-Identifier: Apache-2.0
// The factor on queries, by their position.
#include <algorithm>

#include "figures/registry.h"
#include "figures/spec.h"
#include "locus/error.h"
#include "locus/rows.h"

namespace locus::figures {
namespace {

Figure draw_temperature(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  require(rotation != nullptr && rotation->query_scale, encoding.scheme().name, " has no query temperature");
  const QueryScale& scale = *rotation->query_scale;
  constexpr Position steps = 16;
  const Position last = std::min(max_position, steps * scale.length);
  Json rows = Json::array();
  for (Position i = 0; i <= 512; ++i) {
    const Position position = last * i / 512;
    rows.push_back({{"position", position}, {"factor", rounded(scale.at(position))}});
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 220;
  spec["mark"] = {{"type", "line"}, {"interpolate", "step-after"}, {"tooltip", true}};
  spec["encoding"] = {{"x", quantitative("position", words(Message::temperature_position))},
                      {"y", quantitative("factor", words(Message::temperature_factor))}};
  return {.name = {},
          .title = words(Message::temperature_title,
                         {{"factor", words.digits(pretty(scale.at(last)))}, {"last", words.grouped(last)}}),
          .caption = words(Message::temperature_caption),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& temperature_figure();
const FigureKind& temperature_figure() {
  static const FigureKind kind{.name = "temperature",
                               .meaning = "query temperature: the factor on queries, by their position",
                               .scheme = "query_temperature",
                               .arguments = {{"head_dim", std::int64_t{64}},
                                             {"temperature_length", std::int64_t{8192}},
                                             {"temperature_shift", std::int64_t{1}}},
                               .uses = {},
                               .make = draw_temperature};
  return kind;
}

}  // namespace locus::figures
