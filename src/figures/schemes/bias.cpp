// SPDX-License-Identifier: Apache-2.0
// The number that a score scheme adds for every query and key, one panel per head.
#include "locus/bias.h"

#include <algorithm>

#include "figures/schemes/hidden_values.h"
#include "figures/schemes/score_values.h"
#include "figures/spec.h"

namespace locus::figures {
namespace {

Figure draw_bias(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const std::vector<std::int64_t> heads = heads_of(request, encoding.score().heads, 8);
  std::size_t side = 1;
  while ((side + 1) * (side + 1) * heads.size() <= most_rows) ++side;
  const Thinned positions = thinned(positions_or(request, 24), side, Message::thinned_positions, words);
  const std::vector<double> values = bias_matrix(encoding, positions.values, positions.values);
  const std::size_t count = positions.values.size();
  Json rows = Json::array();
  double low = 0, high = 0;
  for (const std::int64_t head : heads) {
    for (std::size_t q = 0; q < count; ++q) {
      for (std::size_t k = 0; k < count; ++k) {
        if (positions.values[k] > positions.values[q] && !sees_future(encoding)) continue;
        const double value = rounded(values[(static_cast<std::size_t>(head) * count + q) * count + k]);
        low = std::min(low, value);
        high = std::max(high, value);
        rows.push_back({{"head", head}, {"query", positions.values[q]}, {"key", positions.values[k]}, {"bias", value}});
      }
    }
  }
  const Json inner = {{"width", 130},
                      {"height", 130},
                      {"mark", {{"type", "rect"}, {"tooltip", true}}},
                      {"encoding",
                       {{"x", bands("key", words(Message::axis_key_position), positions.values)},
                        {"y", bands("query", words(Message::axis_query_position), positions.values)},
                        {"color", value_colour("bias", words(Message::axis_added_to_score), low, high)}}}};
  const Json head = {{"field", "head"}, {"type", "ordinal"}, {"title", words(Message::axis_head)}};
  Json spec = faceted(chart(std::move(rows)), head, 4, inner);
  const bool steeper = !encoding.score().slopes.empty();
  const std::string scheme(encoding.scheme().name);
  return {.name = {},
          .title = steeper ? words(Message::bias_title_slopes) : words(Message::bias_title, {{"scheme", scheme}}),
          .caption = words(Message::bias_caption, {{"scheme", scheme}}) +
                     (sees_future(encoding) ? "" : words(Message::future_unseen)) + positions.note +
                     random_weights_note(encoding, words),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& bias_figure();
const FigureKind& bias_figure() {
  static const FigureKind kind{.name = "bias",
                               .meaning = "the number that a score scheme adds for every query and key, by head",
                               .scheme = "alibi",
                               .arguments = {{"heads", std::int64_t{8}}},
                               .uses = {"positions", "heads"},
                               .make = draw_bias};
  return kind;
}

}  // namespace locus::figures
