// SPDX-License-Identifier: Apache-2.0
// CoPE, contextual positions: a key stands as far from the query as gates between them count,
//   p_ij = sum of g_it over the visible keys t from j to i, at most max_positions - 1,  g_it = sigmoid(scale q_i . k_t),
//   score = scale q_i . k_j + q_i . e(p_ij),  e between two rows of a learned table by linear interpolation,
// so that a position may count words or sentences instead of tokens. Golovneva et al. 2024, "Contextual Position
// Encoding" (arXiv 2405.18719), equations 3 to 6. The query is unscaled in the second term.
//
// Ids decide nothing; keys count in the order in which they are given. gate_mix is x-transformers' talking_heads: the
// gates of a head are sigmoids of a mix of all heads' products. A shard of the keys must be told what the others count
// (attention_shard.h).
#include <cmath>

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
  keys.scaled = false;
  keys.counted = true;
  keys.index = [](Position, Position) { return std::int64_t{0}; };  // counting chooses the rows
  const std::vector<std::int64_t> shape{arguments.integer("max_positions"), keys.head_dim};
  keys.key_table = weights_or_normal("cope", arguments, "table", shape, 0);
  const double deviation = 1 / std::sqrt(static_cast<double>(keys.head_dim));
  std::vector<LearnedWeight> learned{
      {.name = "table", .shape = shape, .deviation = deviation, .gradient = LearnedGradient::key_table}};
  if (arguments.has("gate_mix")) {
    const std::vector<std::int64_t> square{keys.heads, keys.heads};
    keys.gate_mix = weights_or_normal("cope", arguments, "gate_mix", square, 1);
    learned.push_back({.name = "gate_mix", .shape = square, .gradient = LearnedGradient::gate_mix});
  }
  return {.term = std::move(keys), .claims = claims, .learned = std::move(learned)};
}

}  // namespace

const Scheme& cope_scheme();
const Scheme& cope_scheme() {
  static const Scheme scheme{
      .name = "cope",
      .title = "CoPE",
      .summary = "a learned vector per counted position, multiplied by the query; gates of query and key count",
      .paper = "Golovneva et al. 2024, arXiv 2405.18719",
      .site = Site::relative_key,
      .claims = claims,
      .parameters = {heads_parameter(),
                     head_dim_parameter(1),
                     {.name = "max_positions",
                      .kind = ValueKind::integer,
                      .meaning = "rows of the table; positions stop at the last",
                      .fallback = std::int64_t{64},
                      .least = 1,
                      .most = 4096},
                     {.name = "table",
                      .kind = ValueKind::tensor,
                      .meaning = "learned vectors [max_positions, head_dim]"},
                     {.name = "gate_mix",
                      .kind = ValueKind::tensor,
                      .meaning = "mix of the heads' products under the gates [heads, heads]; absent: none"},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", 4}, {"head_dim", 8}, {"max_positions", 16}, {"deviation", 0.5}},
      .variants = {{"max_positions=4", {{"heads", 2}, {"head_dim", 4}, {"max_positions", 4}, {"deviation", 0.5}}}},
  };
  return scheme;
}

}  // namespace locus
