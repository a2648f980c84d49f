// SPDX-License-Identifier: Apache-2.0
// What a forget gate takes from the score of every key: one token that forgets is enough to hide all keys before it.
#include <algorithm>
#include <cmath>

#include "figures/registry.h"
#include "figures/schemes/hidden_values.h"
#include "figures/spec.h"
#include "locus/attention.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

constexpr double usual_gate = 0.98, closed_gate = 0.02;

/// What the last query takes from each key, if the token at `forgets` has the closed gate (none: -1).
std::vector<double> taken(std::int64_t tokens, std::int64_t forgets) {
  std::vector<double> gates(static_cast<std::size_t>(tokens), std::log(usual_gate));
  if (forgets >= 0) gates[static_cast<std::size_t>(forgets)] = std::log(closed_gate);
  const std::vector<double> sums =
      running_sums(heads_view(gates.data(), ElementType::float64, "thd", {{tokens, 1, 1}}));
  std::vector<double> result;
  for (const double sum : sums) result.push_back(sums.back() - sum);
  return result;
}

Figure draw_gates(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  require(encoding.score().token_numbers > 0, encoding.scheme().name,
          " takes nothing from the tokens; the figure bias draws it");
  const Thinned positions = thinned(positions_or(request, 64), 4096, Message::thinned_positions, words);
  const Position last = *std::max_element(positions.values.begin(), positions.values.end());
  require(*std::min_element(positions.values.begin(), positions.values.end()) >= 0, "positions must not be negative");
  const std::int64_t forgets = last / 2;
  const std::string even = words(Message::gates_even), one = words(Message::gates_one);
  Json rows = Json::array();
  for (const auto& [name, values] : {std::pair{even, taken(last + 1, -1)}, std::pair{one, taken(last + 1, forgets)}}) {
    for (const Position key : positions.values) {
      rows.push_back({{"key", key}, {"which", name}, {"bias", rounded(values[static_cast<std::size_t>(key)])}});
    }
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 240;
  spec["mark"] = {{"type", "line"}, {"interpolate", "step-before"}, {"tooltip", true}};
  spec["encoding"] = {{"x", snug("key", words(Message::axis_key_position))},
                      {"y", quantitative("bias", words(Message::axis_added_to_score))},
                      {"color", category_colour("which", "", {even, one})}};
  return {.name = {},
          .title = words(Message::gates_title),
          .caption = words(Message::gates_caption, {{"last", words.grouped(last)}, {"token", words.grouped(forgets)}}) +
                     positions.note,
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& gates_figure();
const FigureKind& gates_figure() {
  static const FigureKind kind{
      .name = "gates",
      .meaning = "what a forget gate takes from the score of each key, with and without a token that forgets",
      .scheme = "forget_gate",
      .arguments = {{"heads", std::int64_t{1}}},
      .uses = {"positions"},
      .make = draw_gates};
  return kind;
}

}  // namespace locus::figures
