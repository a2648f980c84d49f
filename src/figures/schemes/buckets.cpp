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
  const Encoding& encoding = request.encodings.front().encoding;
  require(encoding.score().toeplitz && encoding.score().bucket != nullptr, encoding.scheme().name,
          " chooses no bucket by offset");
  const Thinned offsets = thinned(
      request.positions.empty() ? range(-160, sees_future(encoding) ? 160 : 0) : request.positions, 4096, "offset");
  // The query stands where no key is before position 0.
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
  spec["encoding"] = {{"x", snug("offset", "offset: key position minus query position")},
                      {"y", quantitative("bucket", "bucket")}};
  return {.name = {},
          .title = "Near offsets have buckets of their own, far ones share: " + pretty(static_cast<double>(used)) +
                   " buckets for " + pretty(static_cast<double>(keys.size())) + " offsets",
          .caption = "The bucket of " + std::string(encoding.scheme().name) +
                     " for each offset; all offsets of a bucket get the same learned number. " +
                     (sees_future(encoding) ? "Keys before and after the query have buckets of their own."
                                            : "Keys after the query are not seen.") +
                     offsets.note,
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
