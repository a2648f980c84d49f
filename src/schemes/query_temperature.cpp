// SPDX-License-Identifier: Apache-2.0
// Query temperature without rotation: the query at position p is multiplied by a factor that grows with p, keys stay as
// they are. The forms of the factor are in query_scale.h. RoPE takes the same parameters for layers that rotate.
// Meta 2025, Llama 4 (its layers without rotation: steps of 8192 positions, beta 0.1, shift 1); the idea of a softmax
// that is sharpened with the length is from Nakanishi 2025, "Scalable-Softmax" (arXiv 2501.19399).
#include "schemes/query_scale.h"

#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::cache_safe, Claim::negative_positions, Claim::unbounded};

SchemeResult make(const Arguments& arguments) {
  Rotation rotation;
  rotation.head_dim = arguments.integer("head_dim");
  rotation.query_scale = query_scale_of("query_temperature", arguments);
  return {.term = std::move(rotation), .claims = claims};
}

std::vector<Parameter> parameters() {
  std::vector<Parameter> all = {head_dim_parameter(1)};
  for (const Parameter& parameter : query_scale_parameters("steps")) all.push_back(parameter);
  return all;
}

}  // namespace

const Scheme& query_temperature_scheme();
const Scheme& query_temperature_scheme() {
  static const Scheme scheme{
      .name = "query_temperature",
      .title = "query temperature",
      .summary = "multiplies queries by a factor that grows with their position; nothing is rotated",
      .paper = "Meta 2025, Llama 4; Nakanishi 2025, arXiv 2501.19399",
      .site = Site::query_key,
      .claims = claims,
      .parameters = parameters(),
      .make = make,
      .example = {{"head_dim", std::int64_t{64}},
                  {"temperature_length", std::int64_t{8}},
                  {"temperature_shift", std::int64_t{1}}},
      .variants = {{"temperature=logarithm",
                    {{"head_dim", 16}, {"temperature", "logarithm"}, {"temperature_length", 8}}}},
  };
  return scheme;
}

}  // namespace locus
