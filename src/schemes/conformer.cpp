// SPDX-License-Identifier: Apache-2.0
// Conformer's relative keys: those of Transformer-XL for both signs of the offset,
//   score = (q + u) . k + (q + v) . (W_r R_n),  n = query - key from -(T - 1) to T - 1,
// with R_n the sinusoid of n, sine at even and cosine at odd channels, u and v learned per head, W_r a learned
// projection; one softmax scale over both. Gulati et al. 2020, "Conformer" (arXiv 2005.08100), section 2.1.
//
// Where Transformer-XL is causal, this encoder sees keys on both sides; the sine gives them different rows. Deviation
// from transformer_xl: the order of the channels, interleaved instead of [sin | cos]. wav2vec2-conformer, parakeet,
// fastspeech2-conformer and NeMo do the same; they write the table from n = T - 1 down to -(T - 1) and shift it.
#include "locus/registry.h"
#include "schemes/projected_sinusoid.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::cache_safe, Claim::negative_positions, Claim::unbounded,
                        Claim::learned};

SchemeResult make(const Arguments& arguments) {
  return projected_sinusoid("conformer", arguments, claims, "interleaved");
}

}  // namespace

const Scheme& conformer_scheme();
const Scheme& conformer_scheme() {
  static const Scheme scheme{
      .name = "conformer",
      .title = "Conformer",
      .summary = "a projected sinusoid of the offset, both signs, multiplied by the query, with learned biases",
      .paper = "Gulati et al. 2020, arXiv 2005.08100",
      .site = Site::relative_key,
      .claims = claims,
      .parameters = projected_sinusoid_parameters(),
      .make = make,
      .example = {{"heads", std::int64_t{4}}, {"head_dim", std::int64_t{8}}},
      .variants = {{"model_dim=6", {{"heads", 2}, {"head_dim", 4}, {"model_dim", 6}}}},
  };
  return scheme;
}

}  // namespace locus
