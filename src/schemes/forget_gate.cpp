// SPDX-License-Identifier: Apache-2.0
// The Forgetting Transformer's gate: every token brings a gate f per head, 0 < f < 1, and the score of query i and key
// j loses what the tokens after j forget,
//   score = scale q . k + ln f_(j+1) + ... + ln f_i.
// Lin et al. 2025, "Forgetting Transformer: Softmax Attention with a Forget Gate" (arXiv 2503.02130), equation 9. A
// constant gate is ALiBi with the slope -ln f; x-transformers calls the same thing data-dependent ALiBi.
//   bidirectional: keys after the query lose the sum of a second gate over the tokens after i up to j.
//
// The gates come from the tokens, not from their positions: ln sigmoid(w . x + b), which the caller computes. Attention
// takes their running sums (running_sums in attention.h) as query_numbers and key_numbers, so that a cached key keeps
// its sum. Ids decide only which keys come after a query.
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions, Claim::unbounded};

SchemeResult make(const Arguments& arguments) {
  ScoreBias bias;
  bias.heads = arguments.integer("heads");
  const bool bidirectional = arguments.boolean("bidirectional");
  bias.token_numbers = bidirectional ? 2 : 1;
  bias.value = [](std::int64_t, Position, Position) { return 0.0; };  // positions alone add nothing
  return {.term = std::move(bias), .claims = bidirectional ? claims : claims.with(Claim::causal_only)};
}

}  // namespace

const Scheme& forget_gate_scheme();
const Scheme& forget_gate_scheme() {
  static const Scheme scheme{
      .name = "forget_gate",
      .title = "forget gate",
      .summary = "every token brings a gate; the score loses what the tokens between key and query forget",
      .paper = "Lin et al. 2025, arXiv 2503.02130",
      .site = Site::score,
      .claims = claims.with(Claim::causal_only),
      .parameters = {heads_parameter(),
                     {.name = "bidirectional",
                      .kind = ValueKind::boolean,
                      .meaning = "take a second gate for keys after the query",
                      .fallback = false}},
      .make = make,
      .example = {{"heads", std::int64_t{4}}},
      .variants = {{"bidirectional=true", {{"heads", 2}, {"bidirectional", true}}}},
  };
  return scheme;
}

}  // namespace locus
