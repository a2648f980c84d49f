// SPDX-License-Identifier: Apache-2.0
// No positional encoding. A causal mask alone lets a decoder infer some order; without it, attention is
// permutation-equivariant. Kazemnejad et al. 2023 (arXiv 2305.19466).
#include "locus/registry.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::relative, Claim::norm_preserving, Claim::cache_safe, Claim::negative_positions,
                        Claim::unbounded};

SchemeResult make(const Arguments&) { return {std::monostate(), claims}; }

}  // namespace

const Scheme& nope_scheme();
const Scheme& nope_scheme() {
  static const Scheme scheme{
      .name = "nope",
      .title = "NoPE",
      .summary = "no encoding: the baseline",
      .paper = "Kazemnejad et al. 2023, arXiv 2305.19466",
      .site = Site::none,
      .claims = claims,
      .parameters = {},
      .make = make,
      .example = {},
  };
  return scheme;
}

}  // namespace locus
