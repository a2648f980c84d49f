// SPDX-License-Identifier: Apache-2.0
// ALiBi's slopes, head by head.
#include <algorithm>

#include "figures/schemes/score_values.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

Figure draw_slopes(const Request& request) {
  const Encoding& encoding = request.encodings.front().encoding;
  const std::vector<double>& slopes = encoding.score().slopes;
  require(!slopes.empty(), encoding.scheme().name, " has no slopes");
  const Thinned heads = thinned(range(0, static_cast<std::int64_t>(slopes.size()) - 1), 4096, "head");
  Json rows = Json::array();
  for (const std::int64_t head : heads.values) {
    rows.push_back({{"head", head}, {"slope", rounded(slopes[static_cast<std::size_t>(head)])}});
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 220;
  spec["mark"] = {{"type", "point"}, {"filled", true}, {"size", 50}, {"tooltip", true}};
  spec["encoding"] = {{"x", bands("head", "head", heads.values)},
                      {"y", logarithmic(quantitative("slope", "penalty per position"), 2)}};
  const auto [least, most] = std::minmax_element(slopes.begin(), slopes.end());
  const bool falling = std::is_sorted(slopes.rbegin(), slopes.rend());
  return {.name = {},
          .title = "Slopes of " + pretty(static_cast<double>(slopes.size())) + " heads, from " + slope_text(*most) +
                   " to " + slope_text(*least) +
                   (falling ? ": each head by one constant factor" : ": the last heads fill the gaps of the first"),
          .caption =
              "What each head subtracts from the score per position of distance. A head count that is no power "
              "of two takes the slopes of the next smaller one first, then every second of twice as many." +
              heads.note,
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
