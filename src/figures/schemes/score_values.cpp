// SPDX-License-Identifier: Apache-2.0
#include "figures/schemes/score_values.h"

#include <cmath>

#include "figures/spec.h"
#include "locus/error.h"
#include "locus/text.h"

namespace locus::figures {

std::vector<std::int64_t> heads_of(const Request& request, std::int64_t heads, std::int64_t most) {
  if (request.heads.empty()) return spread(heads, most);
  require(request.heads.size() <= 32, "a figure draws at most 32 heads, got ", request.heads.size());
  for (const std::int64_t head : request.heads) {
    require(head >= 0 && head < heads, "heads must be from 0 to ", heads - 1, ", got ", head);
  }
  return request.heads;
}

bool sees_future(const Encoding& encoding) { return !encoding.claims().has(Claim::causal_only); }

std::string slope_text(double slope) {
  if (slope <= 0) return pretty(slope);
  const double power = std::log2(slope);
  const bool whole_or_half = std::fabs(2 * power - std::round(2 * power)) < 1e-12;
  return whole_or_half ? "2^" + significant(std::round(2 * power) / 2) : pretty(slope);
}

}  // namespace locus::figures
