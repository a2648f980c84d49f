// SPDX-License-Identifier: Apache-2.0
// Sinusoidal rows of width 4: (sin p, cos p, sin p/100, cos p/100).
#include <numbers>
#include <sstream>

#include "doctor/verify/property_list.h"
#include "doctor/verify/worked.h"

namespace locus::doctor {
namespace {

std::string printed(std::string_view what, double value) {
  std::ostringstream text;
  text.precision(10);
  text << what << " = " << value;
  return text.str();
}

}  // namespace

// The product of rows p and p + k is cos k + cos k/100 for every p: four products of entries up to 1, each off by twice
// an entry's error, and their rounding.
Checks sinusoid_dot_products(const Subject& subject) {
  const double bound = 8 * subject.entry_error + 8 * unit;
  const auto product = [&](Position p, Position q) { return dot(subject.row(p), subject.row(q)); };
  const double first = product(0, 1), later = product(5, 6), farther = product(0, 5);
  const std::string note =
      printed("PE(0).PE(1)", first) + ", " + printed("PE(5).PE(6)", later) + ", " + printed("PE(0).PE(5)", farther);
  return {
      at_most("PE(0).PE(1) = PE(5).PE(6), d = 4", subject.name, std::fabs(first - later), 2 * bound, note),
      at_most("PE(0).PE(1) = cos 1 + cos 0.01", subject.name, std::fabs(first - std::cos(1) - std::cos(0.01)), bound),
      at_most("PE(0).PE(5) = cos 5 + cos 0.05", subject.name, std::fabs(farther - std::cos(5) - std::cos(0.05)),
              bound)};
}

// 710 radians are 113 turns minus 6.03e-5, so the fast columns of 0 and 710 nearly agree. In the slow columns they are
// 7.1 radians apart, a chord of 2 |sin 3.55|.
Checks sinusoid_aliases(const Subject& subject) {
  const std::vector<double> zero = subject.row(0), far = subject.row(710);
  const double fast = std::hypot(far[0] - zero[0], far[1] - zero[1]);
  const double slow = std::hypot(far[2] - zero[2], far[3] - zero[3]);
  const double gap = 226 * std::numbers::pi - 710;
  return {at_most("0 and 710 alias in the fast columns", subject.name, fast, std::fabs(gap) + 1e-12,
                  "710 is 113 turns within 6.03e-5"),
          at_least("0 and 710 differ in the slow columns", subject.name, slow,
                   2 * std::fabs(std::sin(3.55)) - 4 * subject.entry_error)};
}

Checks worked_sinusoids() {
  const Subject four = subject_of(Encoding("sinusoidal", {{"dim", 4}}));
  Checks checks = waves_start_at_zero_and_one(four);
  for (const Checks& more : {sinusoid_dot_products(four), sinusoid_aliases(four)}) {
    checks.insert(checks.end(), more.begin(), more.end());
  }
  return checks;
}

}  // namespace locus::doctor
