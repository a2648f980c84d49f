// SPDX-License-Identifier: Apache-2.0
// Shaw's relative keys: the offset selects a learned vector that is added to the key, and optionally one for the
// value:
//   score = q . (k + a_index),  output = sum p (v + b_index).
// Shaw et al. 2018, "Self-Attention with Relative Position Representations" (arXiv 1803.02155), equations 3 and 4.
//
// Conventions: tensor2tensor indexes clip(key - query) and does not scale; BERT in transformers (relative_key) indexes
// query - key, unclipped, and scales the term with the score; relative_key_query adds k . a_index.
//   index = key_minus_query:  clip(key - query, -left, right) + left       left + right + 1 rows
//   index = query_minus_key:  clip(query - key, -right, left) + right      the same rows, in the other order
// clip = false refuses offsets beyond the table instead.
#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions, Claim::unbounded,
                        Claim::learned};

SchemeResult make(const Arguments& arguments) {
  RelativeKeys keys;
  keys.heads = arguments.integer("heads");
  keys.head_dim = arguments.integer("head_dim");
  keys.scaled = arguments.boolean("scaled");
  keys.meets_key = arguments.boolean("meets_key");
  const std::int64_t left = arguments.integer("clip_left");
  const std::int64_t right = arguments.maybe_integer("clip_right").value_or(left);
  const bool query_first = arguments.text("index") == "query_minus_key";
  const bool clip = arguments.boolean("clip");
  keys.refuses = !clip;
  keys.index = [=](Position query, Position key) {
    const std::int64_t offset = std::clamp(key - query, -left, right);
    require(clip || offset == key - query, "shaw has rows for offsets key - query from ", -left, " to ", right,
            ", got ", key - query);
    return query_first ? right - offset : offset + left;
  };
  const std::vector<std::int64_t> shape{left + right + 1, keys.head_dim};
  keys.key_table = weights_or_normal("shaw", arguments, "key_table", shape, 0);
  if (arguments.boolean("values") || arguments.has("value_table")) {
    keys.value_table = weights_or_normal("shaw", arguments, "value_table", shape, 1);
  }
  SchemeResult result{.term = {}, .claims = clip ? claims : claims.without(Claim::unbounded)};
  const double deviation = 1 / std::sqrt(static_cast<double>(keys.head_dim));
  result.learned.push_back({"key_table", shape, deviation, LearnedGradient::key_table});
  if (!keys.value_table.data.empty()) {
    result.learned.push_back({"value_table", shape, deviation, LearnedGradient::value_table});
  }
  result.term = std::move(keys);
  return result;
}

}  // namespace

const Scheme& shaw_scheme();
const Scheme& shaw_scheme() {
  static const Scheme scheme{
      .name = "shaw",
      .title = "Shaw",
      .summary = "a learned vector per offset, added to the key (and to the value)",
      .paper = "Shaw et al. 2018, arXiv 1803.02155",
      .site = Site::relative_key,
      .claims = claims,
      .parameters = {heads_parameter(),
                     head_dim_parameter(1),
                     {.name = "clip_left",
                      .kind = ValueKind::integer,
                      .meaning = "largest past offset with a separate row",
                      .fallback = std::int64_t{16},
                      .least = 0,
                      .most = 1048576},
                     {.name = "clip_right",
                      .kind = ValueKind::integer,
                      .meaning = "largest future offset with a separate row; absent: clip_left",
                      .least = 0,
                      .most = 1048576},
                     {.name = "index",
                      .kind = ValueKind::choice,
                      .meaning = "order of the rows (tensor2tensor, or BERT in transformers)",
                      .fallback = std::string("key_minus_query"),
                      .choices = {"key_minus_query", "query_minus_key"}},
                     {.name = "clip",
                      .kind = ValueKind::boolean,
                      .meaning = "clamp offsets beyond the table; false: refuse them",
                      .fallback = true},
                     {.name = "values",
                      .kind = ValueKind::boolean,
                      .meaning = "use a second table for the values",
                      .fallback = false},
                     {.name = "scaled",
                      .kind = ValueKind::boolean,
                      .meaning = "apply the softmax scale to the position term too",
                      .fallback = true},
                     {.name = "meets_key",
                      .kind = ValueKind::boolean,
                      .meaning = "multiply the row by the key too (relative_key_query)",
                      .fallback = false},
                     {.name = "key_table",
                      .kind = ValueKind::tensor,
                      .meaning = "[clip_left + clip_right + 1, head_dim]"},
                     {.name = "value_table", .kind = ValueKind::tensor, .meaning = "the same for values"},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", std::int64_t{8}}, {"head_dim", std::int64_t{64}}},
      .variants = {{"values=true", {{"heads", 2}, {"head_dim", 8}, {"values", true}, {"index", "query_minus_key"}}},
                   {"clip_right=1",
                    {{"heads", 2}, {"head_dim", 4}, {"clip_left", 3}, {"clip_right", 1}, {"index", "query_minus_key"}}},
                   {"meets_key=true",
                    {{"heads", 2}, {"head_dim", 4}, {"meets_key", true}, {"values", true}, {"scaled", false}}},
                   {"clip=false", {{"heads", 2}, {"head_dim", 8}, {"clip", false}}}},
      .compared = ComparedIn::standard,
  };
  return scheme;
}

}  // namespace locus
