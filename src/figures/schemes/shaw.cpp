// SPDX-License-Identifier: Apache-2.0
// Which row of Shaw's table each query and key use: one per offset; offsets beyond the clip share the last row.
#include <algorithm>
#include <set>

#include "figures/schemes/hidden_values.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

Figure draw_shaw(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const RelativeKeys& keys = encoding.relative_keys();
  require(keys.index != nullptr, encoding.scheme().name,
          " does not choose rows by offset; the figure transformer-xl draws it");
  const Thinned positions = thinned(positions_or(request, 24), 128, Message::thinned_positions, words);
  encoding.check_positions(positions.values);
  Json rows = Json::array();
  std::set<std::int64_t> used;
  for (const Position query : positions.values) {
    for (const Position key : positions.values) {
      const std::int64_t row = keys.index(query, key);
      used.insert(row);
      rows.push_back({{"query", query}, {"key", key}, {"row", row}});
    }
  }
  const std::int64_t table_rows = keys.key_table.dim(0);
  Json spec = chart(std::move(rows));
  spec["width"] = 320;  // square: both axes are positions
  spec["height"] = 320;
  spec["mark"] = {{"type", "rect"}, {"tooltip", true}};
  spec["encoding"] = {{"x", bands("key", words(Message::axis_key_position), positions.values)},
                      {"y", bands("query", words(Message::axis_query_position), positions.values)},
                      {"color", value_colour("row", words(Message::shaw_row), 0, static_cast<double>(table_rows - 1))}};
  return {.name = {},
          .title = words(Message::shaw_title),
          .caption = words(Message::shaw_caption, {{"rows", words.grouped(table_rows)},
                                                   {"scheme", std::string(encoding.scheme().name)},
                                                   {"used", std::to_string(used.size())}}) +
                     positions.note,
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& shaw_figure();
const FigureKind& shaw_figure() {
  static const FigureKind kind{
      .name = "shaw",
      .meaning = "which row of Shaw's table each query and key use",
      .scheme = "shaw",
      .arguments = {{"heads", std::int64_t{8}}, {"head_dim", std::int64_t{64}}, {"clip_left", std::int64_t{8}}},
      .uses = {"positions"},
      .make = draw_shaw};
  return kind;
}

}  // namespace locus::figures
