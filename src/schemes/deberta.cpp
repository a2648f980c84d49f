// SPDX-License-Identifier: Apache-2.0
// DeBERTa's disentangled attention: the offset selects two learned vectors per head, one for the query and one for the
// key:
//   score = (q . k + q . a_index + k . b_index) / sqrt(t d),   t = 1 + (1 for each of the two terms)
// content to position (c2p), a = key projection of the relative embeddings; position to content (p2c), b = their query
// projection. d is the width of a head. He et al. 2020, "DeBERTa" (arXiv 2006.03654), equations 2 to 4.
//   without buckets (v1):       index = clamp(query - key + span, 0, 2 span - 1),  span = max_relative_positions
//   with position_buckets (v2): the log buckets of relative_bias, span = position_buckets
//
// The tables are the projected embeddings: key_table = rel_embeddings W_k^T + b_k, query_table = rel_embeddings W_q^T +
// b_q, with the layer's own projections if share_att_key, else with pos_key_proj and pos_query_proj. Deviations: beyond
// max_relative_positions Microsoft's code clamps the distance before the buckets, transformers (followed here) after;
// transformers' logarithm is float32 (profile `hf`). v1 cuts its table to the sequence's length, which changes nothing.
#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"
#include "schemes/log_buckets.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions, Claim::unbounded,
                        Claim::learned};

RelativeKeys::Index index_of(std::int64_t buckets, std::int64_t furthest, bool single) {
  if (buckets == 0) {
    return [=](Position query, Position key) {
      return std::clamp(query - key + furthest, std::int64_t{0}, 2 * furthest - 1);
    };
  }
  require(buckets >= 4 && buckets % 2 == 0, "deberta.position_buckets must be 0, or even and at least 4, got ",
          buckets);
  require(furthest - 1 > buckets / 2, "deberta.max_relative_positions must exceed position_buckets / 2 + 1 (",
          buckets / 2 + 1, "), got ", furthest);
  return log_bucket_index(buckets, furthest, single);
}

SchemeResult make(const Arguments& arguments) {
  RelativeKeys keys;
  keys.heads = arguments.integer("heads");
  keys.head_dim = arguments.integer("head_dim");
  keys.per_head = true;
  const bool to_position = arguments.boolean("c2p"), to_content = arguments.boolean("p2c");
  require(to_position || to_content, "deberta: c2p or p2c must be true");
  const int terms = 1 + static_cast<int>(to_position) + static_cast<int>(to_content);
  keys.softmax_scale = 1 / std::sqrt(static_cast<double>(terms * keys.head_dim));
  const std::int64_t buckets = arguments.integer("position_buckets");
  const std::int64_t furthest = arguments.integer("max_relative_positions");
  keys.index = index_of(buckets, furthest, arguments.text("profile") == "hf");
  const std::vector<std::int64_t> shape{2 * (buckets > 0 ? buckets : furthest), keys.heads * keys.head_dim};
  SchemeResult result{.term = {}, .claims = claims};
  const double deviation = 1 / std::sqrt(static_cast<double>(keys.head_dim));
  keys.key_table = weights_or_normal("deberta", arguments, "key_table", shape, 0);
  if (to_position) {
    result.learned.push_back(
        {.name = "key_table", .shape = shape, .deviation = deviation, .gradient = LearnedGradient::key_table});
  } else {
    std::fill(keys.key_table.data.begin(), keys.key_table.data.end(), 0.0f);
  }
  if (to_content) {
    keys.query_table = weights_or_normal("deberta", arguments, "query_table", shape, 1);
    result.learned.push_back(
        {.name = "query_table", .shape = shape, .deviation = deviation, .gradient = LearnedGradient::query_table});
  }
  result.term = std::move(keys);
  return result;
}

}  // namespace

const Scheme& deberta_scheme();
const Scheme& deberta_scheme() {
  static const Scheme scheme{
      .name = "deberta",
      .title = "DeBERTa",
      .summary = "learned vectors per head and offset, one multiplied by the query and one by the key",
      .paper = "He et al. 2020, arXiv 2006.03654",
      .site = Site::relative_key,
      .claims = claims,
      .parameters = {heads_parameter(),
                     head_dim_parameter(1),
                     {.name = "max_relative_positions",
                      .kind = ValueKind::integer,
                      .meaning =
                          "without buckets: offsets with a separate row per sign; with them: distance from which "
                          "all share the last",
                      .fallback = std::int64_t{512},
                      .least = 1,
                      .most = 1048576},
                     {.name = "position_buckets",
                      .kind = ValueKind::integer,
                      .meaning = "log buckets per sign (v2, v3); 0: none (v1)",
                      .fallback = std::int64_t{0},
                      .least = 0,
                      .most = 1048576},
                     {.name = "c2p",
                      .kind = ValueKind::boolean,
                      .meaning = "multiply the query by the row (content to position)",
                      .fallback = true},
                     {.name = "p2c",
                      .kind = ValueKind::boolean,
                      .meaning = "multiply the key by the row of query_table (position to content)",
                      .fallback = true},
                     {.name = "key_table",
                      .kind = ValueKind::tensor,
                      .meaning = "c2p: projected embeddings [2 span, heads x head_dim], span = position_buckets, or "
                                 "max_relative_positions"},
                     {.name = "query_table", .kind = ValueKind::tensor, .meaning = "p2c: the same for the key"},
                     {.name = "profile",
                      .kind = ValueKind::choice,
                      .meaning = "hf: buckets from a float32 logarithm",
                      .fallback = std::string("exact"),
                      .choices = {"exact", "hf"}},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", 4}, {"head_dim", 8}, {"max_relative_positions", 16}},
      .variants = {{"position_buckets=8",
                    {{"heads", 2}, {"head_dim", 4}, {"position_buckets", 8}, {"max_relative_positions", 32}}},
                   {"profile=hf",
                    {{"heads", 2},
                     {"head_dim", 4},
                     {"position_buckets", 16},
                     {"max_relative_positions", 64},
                     {"profile", "hf"}}},
                   {"c2p=false", {{"heads", 2}, {"head_dim", 4}, {"max_relative_positions", 8}, {"c2p", false}}},
                   {"p2c=false", {{"heads", 2}, {"head_dim", 4}, {"max_relative_positions", 8}, {"p2c", false}}}},
  };
  return scheme;
}

}  // namespace locus
