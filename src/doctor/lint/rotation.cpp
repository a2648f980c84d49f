// SPDX-License-Identifier: Apache-2.0
#include "doctor/lint/rotation.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "locus/doctor/lint.h"
#include "locus/reference.h"
#include "locus/turns.h"

namespace locus {

double float32_angle_error(const Rotation& rotation, std::int64_t length) {
  constexpr double turn = 2 * std::numbers::pi;
  double worst = 0;
  for (std::size_t i = 0; i < rotation.inv_freq.size(); ++i) {
    const auto frequency = static_cast<float>(rotation.inv_freq[i]);
    for (Position p = std::max<Position>(length - 32, 0); p < length; ++p) {
      const float angle = static_cast<float>(p) * frequency;
      const double exact = angle_of(rotation.turns[i], p);
      worst = std::max(worst, std::fabs(std::remainder(static_cast<double>(angle) - exact, turn)));
    }
  }
  return worst;
}

namespace doctor {

RotationSeen see_rotation(const Rotation& rotation) {
  std::vector<Position> ids(static_cast<std::size_t>(rotation.axes), 1);
  if (rotation.axes == 4) ids[3] = 0;  // text has no fourth axis
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  std::vector<double> cos(pairs), sin(pairs);
  reference::rotation_row(rotation, Role::query, ids, cos, sin);
  RotationSeen seen;
  for (std::size_t i = 0; i < pairs; ++i) seen.angle.push_back(std::atan2(sin[i], cos[i]));
  if (pairs > 0) seen.magnitude = std::hypot(cos[0], sin[0]);
  return seen;
}

FrequencyDifference compare_frequencies(const std::vector<double>& a, const std::vector<double>& b, double share) {
  constexpr double nothing = 1e-12;  // a pair that never turns, or that was divided by 1e30
  FrequencyDifference result;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::fabs(a[i] - b[i]), larger = std::max(std::fabs(a[i]), std::fabs(b[i]));
    if (difference <= nothing || difference <= share * larger) continue;
    if (result.first < 0) result.first = static_cast<std::int64_t>(i);
    if (difference / larger > result.worst_share) {
      result.worst_share = difference / larger;
      result.worst = static_cast<std::int64_t>(i);
    }
  }
  return result;
}

}  // namespace doctor
}  // namespace locus
