// SPDX-License-Identifier: Apache-2.0
// ALiBi's slopes, head by head.
#include <algorithm>

#include "figures/schemes/score_values.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

Figure draw_slopes(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const std::vector<double>& slopes = encoding.score().slopes;
  require(!slopes.empty(), encoding.scheme().name, " has no slopes");
  const Thinned heads =
      thinned(range(0, static_cast<std::int64_t>(slopes.size()) - 1), 4096, Message::thinned_heads, words);
  Json rows = Json::array();
  for (const std::int64_t head : heads.values) {
    rows.push_back({{"head", head}, {"slope", rounded(slopes[static_cast<std::size_t>(head)])}});
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 220;
  spec["mark"] = {{"type", "point"}, {"filled", true}, {"size", 50}, {"tooltip", true}};
  spec["encoding"] = {{"x", bands("head", words(Message::axis_head), heads.values)},
                      {"y", logarithmic(quantitative("slope", words(Message::slopes_axis)), 2)}};
  const auto [least, most] = std::minmax_element(slopes.begin(), slopes.end());
  const bool falling = std::is_sorted(slopes.rbegin(), slopes.rend());
  return {.name = {},
          .title = words(
              falling ? Message::slopes_title_falling : Message::slopes_title_gaps,
              {{"heads", std::to_string(slopes.size())}, {"most", slope_text(*most)}, {"least", slope_text(*least)}}),
          .caption = words(Message::slopes_caption) + heads.note,
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& slopes_figure();
const FigureKind& slopes_figure() {
  static const FigureKind kind{.name = "slopes",
                               .meaning = "ALiBi's slope of each head",
                               .scheme = "alibi",
                               .arguments = {{"heads", std::int64_t{12}}},
                               .uses = {},
                               .make = draw_slopes};
  return kind;
}

}  // namespace locus::figures
