// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/comparison.h"

#include <cmath>
#include <sstream>

namespace locus::doctor {

Comparison compare(std::span<const double> got, std::span<const double> want, std::int64_t heads, std::int64_t head_dim,
                   const std::function<double(const Entry&, double want)>& bound) {
  Comparison result;
  double worst = -1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const Entry entry{at / (heads * head_dim), at / head_dim % heads, at % head_dim};
    if (std::isnan(got[i]) && std::isnan(want[i])) continue;  // a fault may predict NaN; the right result never is
    const double difference = got[i] == want[i] ? 0 : std::fabs(got[i] - want[i]);  // covers equal infinities
    const double allowed = bound(entry, want[i]);
    const double share = difference == 0 ? 0 : difference / allowed;
    if (!(share <= worst) && !std::isnan(worst)) {
      worst = share;
      result.value = difference;
      result.bound = allowed;
    }
    if (!(difference <= allowed) && !result.first) {
      result.first = entry;
      result.got = got[i];
      result.want = want[i];
    }
  }
  return result;
}

bool explains(std::span<const double> got, std::span<const double> predicted, std::span<const double> right) {
  double under_model = 0, under_right = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!std::isfinite(got[i])) return true;
    under_model += (got[i] - predicted[i]) * (got[i] - predicted[i]);
    under_right += (got[i] - right[i]) * (got[i] - right[i]);
  }
  return under_model <= under_right / 2;
}

std::string divergence(const Comparison& comparison, std::int64_t token, Position position, const std::string& cause) {
  if (!comparison.first) return {};
  std::ostringstream text;
  text << "diverges first at token " << token << ", head " << comparison.first->head << ", position " << position
       << ": " << comparison.got << " instead of " << comparison.want << "; likely cause: " << cause;
  return text.str();
}

}  // namespace locus::doctor
