// SPDX-License-Identifier: Apache-2.0
// Which bucket an offset falls into: exact near the query, coarser with distance.
#include <algorithm>
#include <set>

#include "figures/schemes/score_values.h"
#include "figures/spec.h"
#include "locus/bias.h"
#include "locus/error.h"

namespace locus::figures {
namespace {

Figure draw_buckets(const Request& request) {
  const Words words(request.language);
  const Encoding& encoding = request.encodings.front().encoding;
  require(encoding.score().toeplitz && encoding.score().bucket != nullptr, encoding.scheme().name,
          " does not choose buckets by offset");
  const Thinned offsets =
      thinned(request.positions.empty() ? range(-160, sees_future(encoding) ? 160 : 0) : request.positions, 4096,
              Message::thinned_offsets, words);
  // Places the query so that no key has a negative position.
  const Position query = std::max<Position>(0, -*std::min_element(offsets.values.begin(), offsets.values.end()));
  std::vector<Position> keys;
  for (const Position offset : offsets.values) keys.push_back(query + offset);
  const std::vector<std::int64_t> buckets = bucket_matrix(encoding, std::span(&query, 1), keys);
  Json rows = Json::array();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    rows.push_back({{"offset", offsets.values[i]}, {"bucket", buckets[i]}});
  }
  const std::size_t used = std::set<std::int64_t>(buckets.begin(), buckets.end()).size();
  Json spec = chart(std::move(rows));
  spec["height"] = 260;
  spec["mark"] = {{"type", "line"}, {"interpolate", "step"}, {"tooltip", true}};
  spec["encoding"] = {{"x", snug("offset", words(Message::buckets_axis))},
                      {"y", quantitative("bucket", words(Message::buckets_bucket))}};
  const auto number = [&](std::size_t count) { return words.digits(pretty(static_cast<double>(count))); };
  return {.name = {},
          .title = words(Message::buckets_title, {{"buckets", number(used)}, {"offsets", number(keys.size())}}),
          .caption = words(Message::buckets_caption, {{"scheme", std::string(encoding.scheme().name)}}) +
                     words(sees_future(encoding) ? Message::buckets_both : Message::buckets_causal) + offsets.note,
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& buckets_figure();
const FigureKind& buckets_figure() {
  static const FigureKind kind{.name = "buckets",
                               .meaning = "T5's (or relative_bias's) bucket by offset (--positions: offsets)",
                               .scheme = "t5",
                               .arguments = {{"heads", std::int64_t{8}}},
                               .uses = {"positions"},
                               .make = draw_buckets};
  return kind;
}

}  // namespace locus::figures
