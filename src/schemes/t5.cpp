// SPDX-License-Identifier: Apache-2.0
// T5's relative bias: the offset key - query selects a bucket, and each head has a learned number per bucket.
//   bidirectional: half of the buckets for keys after the query; causal: keys after the query share bucket 0
//   with m buckets per sign and e = m/2: distances below e have a bucket each; beyond,
//   bucket = e + floor(ln(n/e) / ln(max_distance/e) (m - e)), at most m - 1.
// Raffel et al. 2019 (arXiv 1910.10683), section 2.1. No softmax scale: T5 folds it into its initialisation.
//
// The logarithm is used once, to find the integer at which each bucket starts; lookups compare integers. Deviation:
// at a threshold that is an integer, a computed logarithm may fall on either side, so float32 and float64
// implementations disagree, e.g. for (20, 160) at 10, 20 and 80, where float64 is wrong. The profile `hf` follows
// float32.
#include <algorithm>
#include <cmath>

#include "locus/double_double.h"
#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions, Claim::unbounded,
                        Claim::learned};

// The smallest distance of each logarithmic bucket: ceil(e (D/e)^(j/(m - e))), j = 0 .. m - e - 1.
std::vector<std::int64_t> bucket_starts(std::int64_t m, std::int64_t e, std::int64_t max_distance) {
  std::vector<std::int64_t> starts;
  const DoubleDouble exact(static_cast<double>(e));
  const DoubleDouble ratio = DoubleDouble(static_cast<double>(max_distance)) / exact;
  for (std::int64_t j = 0; j < m - e; ++j) {
    const DoubleDouble power = DoubleDouble(static_cast<double>(j)) / DoubleDouble(static_cast<double>(m - e));
    const DoubleDouble start = exact * pow(ratio, power);
    // An integer threshold is computed to within 1e-25; no other threshold is that close to an integer.
    const DoubleDouble nearest = floor(start + 0.5);
    const DoubleDouble off = start - nearest;
    const bool whole = std::fabs(off.hi) < 1e-20 * start.hi;
    starts.push_back(static_cast<std::int64_t>(whole ? nearest.hi : ceil(start).hi));
  }
  return starts;
}

struct Buckets {
  std::int64_t per_sign;
  std::int64_t exact;
  std::int64_t max_distance;
  bool bidirectional;
  bool single;  // float32 logarithm, as transformers
  std::vector<std::int64_t> starts;

  std::int64_t of_distance(std::int64_t distance) const {
    if (distance < exact) return distance;
    if (single) {
      const float part = std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
                         static_cast<float>(std::log(static_cast<double>(max_distance) / static_cast<double>(exact)));
      const auto steps = static_cast<std::int64_t>(part * static_cast<float>(per_sign - exact));
      return std::min(exact + steps, per_sign - 1);
    }
    const auto after = std::upper_bound(starts.begin(), starts.end(), distance);
    return exact + (after - starts.begin()) - 1;
  }

  std::int64_t of_offset(std::int64_t offset) const {
    if (!bidirectional) return of_distance(offset < 0 ? -offset : 0);
    return (offset > 0 ? per_sign : 0) + of_distance(offset < 0 ? -offset : offset);
  }
};

SchemeResult make(const Arguments& arguments) {
  const std::int64_t num_buckets = arguments.integer("num_buckets");
  Buckets buckets{.per_sign = num_buckets,
                  .exact = 0,
                  .max_distance = arguments.integer("max_distance"),
                  .bidirectional = arguments.boolean("bidirectional"),
                  .single = arguments.text("profile") == "hf",
                  .starts = {}};
  if (buckets.bidirectional) {
    require(num_buckets >= 4, "t5.num_buckets must be at least 4 when bidirectional, got ", num_buckets);
    buckets.per_sign = num_buckets / 2;
  }
  buckets.exact = buckets.per_sign / 2;
  require(buckets.max_distance > buckets.exact, "t5.max_distance must exceed the distances with separate buckets (",
          buckets.exact, "), got ", buckets.max_distance);
  buckets.starts = bucket_starts(buckets.per_sign, buckets.exact, buckets.max_distance);

  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  bias.buckets = num_buckets;
  bias.softmax_scale = 1.0;
  bias.table = weights_or_normal("t5", arguments, "table", {num_buckets, bias.heads});
  bias.bucket = [buckets](Position query, Position key) { return buckets.of_offset(key - query); };
  bias.value = [bucket = bias.bucket, table = bias.table](std::int64_t head, Position query, Position key) {
    return static_cast<double>(table.row(bucket(query, key))[static_cast<std::size_t>(head)]);
  };
  const std::vector<std::int64_t> shape = bias.table.shape;
  return {.term = std::move(bias),
          .claims = buckets.bidirectional ? claims : claims.with(Claim::causal_only),
          .learned = {{.name = "table", .shape = shape, .gradient = LearnedGradient::bias_table}}};
}

}  // namespace

const Scheme& t5_scheme();
const Scheme& t5_scheme() {
  static const Scheme scheme{
      .name = "t5",
      .title = "T5",
      .summary = "a learned number per head and bucket of the offset",
      .paper = "Raffel et al. 2019, arXiv 1910.10683",
      .site = Site::score,
      .claims = claims,
      .parameters = {heads_parameter(),
                     {.name = "num_buckets",
                      .kind = ValueKind::integer,
                      .meaning = "number of buckets",
                      .fallback = std::int64_t{32},
                      .least = 2,
                      .most = 65536},
                     {.name = "max_distance",
                      .kind = ValueKind::integer,
                      .meaning = "distance from which all share the last bucket",
                      .fallback = std::int64_t{128},
                      .least = 1,
                      .most = 0x1p31},
                     {.name = "bidirectional",
                      .kind = ValueKind::boolean,
                      .meaning = "use buckets for keys after the query too (encoders)",
                      .fallback = true},
                     {.name = "table", .kind = ValueKind::tensor, .meaning = "learned numbers [num_buckets, heads]"},
                     {.name = "profile",
                      .kind = ValueKind::choice,
                      .meaning = "hf: thresholds from a float32 logarithm",
                      .fallback = std::string("exact"),
                      .choices = {"exact", "hf"}},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", std::int64_t{8}}},
      .variants = {{"bidirectional=false", {{"heads", 8}, {"bidirectional", false}}},
                   {"profile=hf", {{"heads", 2}, {"num_buckets", 20}, {"max_distance", 160}, {"profile", "hf"}}}},
  };
  return scheme;
}

}  // namespace locus
