// SPDX-License-Identifier: Apache-2.0
// The cosine similarity between the rows of every two positions.
#include <algorithm>
#include <cmath>

#include "figures/schemes/hidden_values.h"
#include "figures/spec.h"

namespace locus::figures {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Returns the cosine of the angle between two rows; 0 if one of them is zero.
double similarity(const std::vector<double>& a, const std::vector<double>& b) {
  const double lengths = std::sqrt(dot(a, a) * dot(b, b));
  return lengths == 0 ? 0 : dot(a, b) / lengths;
}

Figure draw_similarity(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const Thinned positions = thinned(positions_or(request, 64), 128, Message::thinned_positions, words);
  const std::vector<std::vector<double>> values = hidden_rows(encoding, positions.values);
  Json rows = Json::array();
  double least = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < values.size(); ++j) {
      const double value = rounded(similarity(values[i], values[j]));
      least = std::min(least, value);
      rows.push_back({{"position", positions.values[i]}, {"other", positions.values[j]}, {"similarity", value}});
    }
  }
  Json spec = chart(std::move(rows));
  spec["width"] = 360;  // square: both axes are positions
  spec["height"] = 360;
  spec["mark"] = {{"type", "rect"}, {"tooltip", true}};
  spec["encoding"] = {{"x", bands("other", words(Message::axis_position), positions.values)},
                      {"y", bands("position", words(Message::axis_position), positions.values)},
                      {"color", value_colour("similarity", words(Message::similarity_axis), least, 1)}};
  const bool by_offset = encoding.claims().has(Claim::linear_shift);
  return {.name = {},
          .title = words(by_offset ? Message::similarity_title_offset : Message::similarity_title),
          .caption = words(Message::similarity_caption, {{"scheme", std::string(encoding.scheme().name)}}) +
                     (by_offset ? words(Message::similarity_diagonals) : "") + positions.note +
                     random_weights_note(encoding, words),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& similarity_figure();
const FigureKind& similarity_figure() {
  static const FigureKind kind{.name = "similarity",
                               .meaning = "cosine similarity between the rows of every two positions",
                               .scheme = "sinusoidal",
                               .arguments = {{"dim", std::int64_t{128}}},
                               .uses = {"positions"},
                               .make = draw_similarity};
  return kind;
}

}  // namespace locus::figures
