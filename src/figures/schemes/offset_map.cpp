// SPDX-License-Identifier: Apache-2.0
// The offset at which attention sees a key, by its true offset, for one query: an offset map against plain RoPE.
#include <algorithm>

#include "figures/registry.h"
#include "figures/spec.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

double seen_offset(const OffsetMap& map, Position query, Position key) {
  std::size_t region = 0;
  while (region + 1 < map.regions.size() && key < map.regions[region].first_key(query)) ++region;
  const OffsetRegion& of = map.regions[region];
  return static_cast<double>(of.query_at(query) - of.key_at(key)) / static_cast<double>(map.denominator);
}

Figure draw_offset_map(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  require(rotation != nullptr && rotation->offsets, encoding.scheme().name, " remaps no offsets");
  const Thinned offsets =
      thinned(request.positions.empty() ? range(0, 127) : request.positions, 4096, Message::thinned_offsets, words);
  for (const Position offset : offsets.values) {
    require(offset >= 0, "offsets must not be negative, got ", offset);
  }
  const Position query = *std::max_element(offsets.values.begin(), offsets.values.end());
  const std::string own = words(Message::offset_map_own), mapped = words(Message::offset_map_mapped);
  Json rows = Json::array();
  double largest = 0;
  for (const Position offset : offsets.values) {
    const double seen = seen_offset(*rotation->offsets, query, query - offset);
    largest = std::max(largest, seen);
    rows.push_back({{"offset", offset}, {"which", own}, {"seen", offset}});
    rows.push_back({{"offset", offset}, {"which", mapped}, {"seen", rounded(seen)}});
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 240;
  spec["mark"] = {{"type", "line"}, {"tooltip", true}};
  spec["encoding"] = {{"x", snug("offset", words(Message::offset_map_offset))},
                      {"y", quantitative("seen", words(Message::offset_map_seen))},
                      {"color", category_colour("which", "", {own, mapped})}};
  return {.name = {},
          .title = words(Message::offset_map_title,
                         {{"farthest", words.grouped(query)}, {"largest", words.digits(pretty(rounded(largest)))}}),
          .caption = words(Message::offset_map_caption, {{"query", words.grouped(query)}}) + offsets.note,
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& offset_map_figure();
const FigureKind& offset_map_figure() {
  static const FigureKind kind{
      .name = "offset-map",
      .meaning = "the offset at which attention sees a key, by its true offset (--positions: offsets)",
      .scheme = "offset_map",
      .arguments = {{"head_dim", std::int64_t{64}},
                    {"pairing", std::string("half")},
                    {"map", std::string("self_extend")},
                    {"window", std::int64_t{32}},
                    {"group", std::int64_t{4}}},
      .uses = {"positions"},
      .make = draw_offset_map};
  return kind;
}

}  // namespace locus::figures
