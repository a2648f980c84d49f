// SPDX-License-Identifier: Apache-2.0
// FoPE in a rope block (Intern-S1-Pro): one of three keys says that the frequencies are mixed, by matrices of the checkpoint.
#include "io/hf_rope.h"

namespace locus::io {

void read_fope(LayerEncoding& layer, Fields& fields, Fields& block) {
  if (!block.has("fope_init_factor") && !block.has("fope_sep_head") && !block.has("num_inv_freq")) return;
  const auto frequencies = block.integer({"num_inv_freq"});
  const bool by_head = block.boolean({"fope_sep_head"}).value_or(true);
  block.acknowledge({"fope_init_factor"});  // of the initial matrices
  auto heads = fields.integer({"num_key_value_heads"});
  if (!heads) heads = read_heads(fields);
  Arguments own{{"heads", by_head ? needed(heads, fields, "num_key_value_heads", "fope_sep_head") : 1},
                {"head_dim", layer.arguments.integer("head_dim")},
                {"pairing", layer.arguments.text("pairing")},
                {"base", layer.arguments.real("base")}};
  if (frequencies) {
    own.set("frequencies", *frequencies);
  } else if (const auto length = layer.arguments.maybe_integer("max_length")) {
    own.set("max_length", *length);
  }
  layer.scheme = "fope";
  layer.arguments = std::move(own);
  layer.not_applied.emplace_back(
      "this model mixes frequencies by matrices of its checkpoint, which config.json does not have; give them as "
      "cos_mix "
      "and sin_mix of the scheme fope");
}

}  // namespace locus::io
