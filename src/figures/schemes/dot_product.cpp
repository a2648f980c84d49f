// SPDX-License-Identifier: Apache-2.0
// The dot product of a query and a key that differ only in their positions, by offset, at two positions of the key.
#include <algorithm>
#include <cmath>

#include "figures/registry.h"
#include "figures/schemes/rotation_values.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

/// The vectors have length 1 and are spread evenly over the pairs: plain RoPE gives at most 1.
double dot_product(const TurnedPairs& query, const TurnedPairs& key) {
  double sum = 0;
  for (std::size_t i = 0; i < query.cos.size(); ++i) sum += query.cos[i] * key.cos[i] + query.sin[i] * key.sin[i];
  return sum / static_cast<double>(query.cos.size());
}

struct Curve {
  std::string name;
  std::vector<double> values;
};

Curve curve_from(const Encoding& encoding, Position key, const std::vector<Position>& offsets, const Words& words) {
  Curve curve{.name = words(Message::dot_key_at, {{"position", words.grouped(key)}}), .values = {}};
  const TurnedPairs turned_key = turned_pairs(encoding, Role::key, key);
  for (const Position offset : offsets) {
    curve.values.push_back(dot_product(turned_pairs(encoding, Role::query, key + offset), turned_key));
  }
  return curve;
}

Figure draw_dot_product(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  require(encoding.rotation().pairs() > 0, encoding.scheme().name, " rotates no pair");
  const Thinned offsets =
      thinned(request.positions.empty() ? range(0, 256) : request.positions, 2048, Message::thinned_offsets, words);
  const Position farthest = *std::max_element(offsets.values.begin(), offsets.values.end());
  const Position far = std::min<Position>(10000, encoding.position_range().last - std::max<Position>(farthest, 0));
  const Position near = std::min<Position>(std::max<Position>(encoding.position_range().first, 0), far);
  const Curve first = curve_from(encoding, near, offsets.values, words),
              second = curve_from(encoding, far, offsets.values, words);
  Json rows = Json::array();
  double difference = 0;
  for (std::size_t i = 0; i < offsets.values.size(); ++i) {
    difference = std::max(difference, std::fabs(first.values[i] - second.values[i]));
    for (const Curve* curve : {&first, &second}) {
      rows.push_back({{"offset", offsets.values[i]}, {"place", curve->name}, {"product", rounded(curve->values[i])}});
    }
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 240;
  spec["mark"] = {{"type", "line"}, {"tooltip", true}};
  // The second curve covers the first: dashes make both visible.
  Json dash = nominal("place", words(Message::dot_place));
  dash["legend"] = {{"orient", "top"}};
  dash["scale"] = {{"domain", {first.name, second.name}}, {"range", Json::array({{1, 0}, {4, 4}})}};
  spec["encoding"] = {{"x", snug("offset", words(Message::dot_offset))},
                      {"y", quantitative("product", words(Message::dot_product))},
                      {"color", category_colour("place", words(Message::dot_place), {first.name, second.name})},
                      {"strokeDash", dash}};
  // Rows in double are within 1e-15 + |id| 2e-19; a much larger difference comes from a profile's arithmetic.
  const bool relative = difference < 1e-9;
  return {.name = {},
          .title = relative ? words(Message::dot_title)
                            : words(Message::dot_title_absolute, {{"difference", pretty(rounded(difference))}}),
          .caption = words(Message::dot_caption, {{"scheme", std::string(encoding.scheme().name)}}) + offsets.note,
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& dot_product_figure();
const FigureKind& dot_product_figure() {
  static const FigureKind kind{.name = "dot-product",
                               .meaning = "query times key by offset, with rope or xpos (--positions: offsets)",
                               .scheme = "rope",
                               .arguments = {{"head_dim", std::int64_t{64}}, {"pairing", std::string("half")}},
                               .uses = {"positions"},
                               .make = draw_dot_product};
  return kind;
}

}  // namespace locus::figures
