// SPDX-License-Identifier: Apache-2.0
// A scheme for the tests only: a learned number per head for each doubling of the distance,
//   bias(head, query, key) = table[step, head],  step = min(floor(log2(1 + |query - key|)), steps - 1).
// The tests add this file and one line to the registry, and look for the scheme everywhere.
#include <algorithm>
#include <bit>

#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative,           Claim::distance_only, Claim::cache_safe,
                        Claim::negative_positions, Claim::unbounded,     Claim::learned};

SchemeResult make(const Arguments& arguments) {
  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  bias.buckets = arguments.integer("steps");
  bias.table = weights_or_normal("staircase", arguments, "table", {bias.buckets, bias.heads});
  bias.bucket = [last = bias.buckets - 1](Position query, Position key) {
    const auto distance = static_cast<std::uint64_t>(query < key ? key - query : query - key);
    return std::min<std::int64_t>(static_cast<std::int64_t>(std::bit_width(distance + 1)) - 1, last);
  };
  bias.value = [bucket = bias.bucket, table = bias.table](std::int64_t head, Position query, Position key) {
    return static_cast<double>(table.row(bucket(query, key))[static_cast<std::size_t>(head)]);
  };
  SchemeResult result{.term = {}, .claims = claims};
  result.learned = {{.name = "table", .shape = bias.table.shape, .gradient = LearnedGradient::bias_table}};
  result.term = std::move(bias);
  return result;
}

}  // namespace

const Scheme& staircase_scheme();
const Scheme& staircase_scheme() {
  static const Scheme scheme{
      .name = "staircase",
      .title = "Staircase",
      .summary = "a learned number per head for each doubling of the distance",
      .paper = "tests/extension",
      .site = Site::score,
      .claims = claims,
      .parameters = {heads_parameter(),
                     {.name = "steps",
                      .kind = ValueKind::integer,
                      .meaning = "steps of the staircase",
                      .fallback = std::int64_t{8},
                      .least = 1,
                      .most = 32},
                     {.name = "table", .kind = ValueKind::tensor, .meaning = "learned numbers [steps, heads]"},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", std::int64_t{8}}},
      .variants = {{"steps=3", {{"heads", 2}, {"steps", 3}}}},
  };
  return scheme;
}

}  // namespace locus
