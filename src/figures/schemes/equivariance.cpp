// SPDX-License-Identifier: Apache-2.0
// Why positions are needed: three tokens, X = (1,0), (0,1), (1,1), identity weights, unscaled softmax, no mask, in both
// orders. Without positions, each word has the same output in both: attention cannot distinguish the sentences.
#include <algorithm>
#include <array>
#include <span>

#include "figures/registry.h"
#include "figures/spec.h"
#include "locus/positions.h"
#include "locus/reference_attention.h"
#include "locus/rows.h"

namespace locus::figures {
namespace {

constexpr std::array<const char*, 3> tokens = {"I", "work", "he"};
constexpr std::array<std::array<double, 2>, 3> vectors = {{{1, 0}, {0, 1}, {1, 1}}};
using Order = std::array<std::size_t, 3>;

/// Returns the first coordinate of each token's output in the first head, in the order of the sentence.
std::array<double, 3> outputs(const Encoding& encoding, const Order& order) {
  const std::int64_t heads = encoding.site() == Site::score ? encoding.score().heads : 1;
  std::vector<double> value;
  for (std::size_t place = 0; place < 3; ++place) {
    std::array<double, 2> row = {0, 0};
    if (encoding.site() == Site::hidden) hidden_row(encoding.hidden(), static_cast<Position>(place), std::span(row));
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::size_t i = 0; i < 2; ++i) value.push_back(vectors[order[place]][i] + row[i]);
    }
  }
  std::vector<double> query = value, key = value;
  const auto view = [&](std::vector<double>& data) {
    return heads_view(data.data(), ElementType::float64, "thd", std::array<std::int64_t, 3>{3, heads, 2});
  };
  if (encoding.site() == Site::query_key) {
    rotate_query_key(encoding, view(query), view(key), positions::prefill(3));
  }
  const AttentionCall call{.query = view(query),
                           .key = view(key),
                           .value = view(value),
                           .output = view(value),
                           .encoding = encoding.site() == Site::score ? &encoding : nullptr,
                           .scale = 1.0};
  const std::vector<double> all = reference::attend(call).output;  // [heads, queries, 2]
  return {all[0], all[2], all[4]};
}

Figure draw_equivariance(const Request& request) {
  const Words words(request.language);
  struct Reading {
    std::string name;
    Encoding encoding;
  };
  const std::vector<Reading> readings = {
      {words(Message::equivariance_none), Encoding("nope")},
      {"sinusoidal", Encoding("sinusoidal", {{"dim", 2}})},
      {"rope", Encoding("rope", {{"head_dim", 2}, {"pairing", "half"}})},
      {"alibi", Encoding("alibi", {{"heads", 8}})},
  };
  const std::vector<std::pair<std::string, Order>> orders = {{"I work he", {0, 1, 2}}, {"he work I", {2, 1, 0}}};
  Json rows = Json::array();
  std::vector<std::string> names;
  for (const Reading& reading : readings) {
    names.push_back(reading.name);
    for (const auto& [sentence, order] : orders) {
      const std::array<double, 3> output = outputs(reading.encoding, order);
      for (std::size_t place = 0; place < 3; ++place) {
        rows.push_back({{"encoding", reading.name},
                        {"token", tokens[order[place]]},
                        {"sentence", sentence},
                        {"output", rounded(output[place])}});
      }
    }
  }
  const std::vector<std::string> sentences = {orders[0].first, orders[1].first};
  Json facet = nominal("encoding", "");
  facet["sort"] = names;
  Json token = nominal("token", words(Message::equivariance_token));
  token["sort"] = tokens;
  token["axis"] = {{"labelAngle", 0}};
  Json offset = nominal("sentence", words(Message::equivariance_read_as));
  offset["sort"] = sentences;
  const Json inner = {{"width", 140},
                      {"height", 180},
                      {"mark", {{"type", "bar"}, {"tooltip", true}}},
                      {"encoding",
                       {{"x", token},
                        {"y", quantitative("output", words(Message::equivariance_output))},
                        {"xOffset", offset},
                        {"color", category_colour("sentence", words(Message::equivariance_read_as), sentences)}}}};
  Json spec = faceted(chart(std::move(rows)), facet, 4, inner);
  return {.name = {},
          .title = words(Message::equivariance_title),
          .caption = words(Message::equivariance_caption),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& equivariance_figure();
const FigureKind& equivariance_figure() {
  static const FigureKind kind{
      .name = "equivariance",
      .meaning = "why positions are needed: attention over three tokens, forwards and backwards",
      .scheme = "",
      .arguments = {},
      .uses = {},
      .make = draw_equivariance};
  return kind;
}

}  // namespace locus::figures
