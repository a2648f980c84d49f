// SPDX-License-Identifier: Apache-2.0
// The names of enumerators in output and input.
#include "locus/claims.h"
#include "locus/site.h"

namespace locus {

std::string_view name_of(Claim claim) {
  switch (claim) {
    case Claim::relative:
      return "relative";
    case Claim::norm_preserving:
      return "norm_preserving";
    case Claim::linear_in_distance:
      return "linear_in_distance";
    case Claim::distance_only:
      return "distance_only";
    case Claim::decaying:
      return "decaying";
    case Claim::linear_shift:
      return "linear_shift";
    case Claim::cache_safe:
      return "cache_safe";
    case Claim::negative_positions:
      return "negative_positions";
    case Claim::unbounded:
      return "unbounded";
    case Claim::causal_only:
      return "causal_only";
    case Claim::learned:
      return "learned";
  }
  return "?";
}

std::vector<Claim> Claims::all() const {
  std::vector<Claim> claims;
  for (int i = 0; i <= static_cast<int>(Claim::learned); ++i) {
    if (has(static_cast<Claim>(i))) claims.push_back(static_cast<Claim>(i));
  }
  return claims;
}

std::string_view name_of(Site site) {
  switch (site) {
    case Site::none:
      return "none";
    case Site::hidden:
      return "hidden";
    case Site::query_key:
      return "query_key";
    case Site::score:
      return "score";
    case Site::relative_key:
      return "relative_key";
    case Site::output:
      return "output";
  }
  return "?";
}

std::string_view name_of(Profile profile) {
  switch (profile) {
    case Profile::exact:
      return "exact";
    case Profile::hf:
      return "hf";
    case Profile::ggml:
      return "ggml";
    case Profile::vllm:
      return "vllm";
  }
  return "?";
}

std::string_view name_of(Pairing pairing) { return pairing == Pairing::half ? "half" : "interleaved"; }

}  // namespace locus
