// SPDX-License-Identifier: Apache-2.0
// Rotations small enough for pen and paper: one pair that turns by one radian per position, and the composition of
// rotations.
#include <array>
#include <sstream>

#include "doctor/verify/worked.h"

namespace locus::doctor {
namespace {

std::vector<double> turned(const Subject& subject, Position id, const std::vector<double>& head) {
  return subject.rotate(Role::query, std::span(&id, 1), head);
}

std::vector<double> axis(std::int64_t size, std::size_t index) {
  std::vector<double> vector(static_cast<std::size_t>(size), 0.0);
  vector[index] = 1;
  return vector;
}

}  // namespace

// q at 7 is (cos 7, sin 7), k at 4 is (cos 4 - sin 4, sin 4 + cos 4) / 2. By the addition theorems their product is
// (cos 3 + sin 3) / 2 = -0.4244, as for every other pair of ids 3 apart.
Checks one_pair_at_seven_and_four(const Subject& subject) {
  const std::vector<double> q = turned(subject, 7, {1, 0}), k = turned(subject, 4, {0.5, 0.5});
  const double product = dot(q, k);
  const double later = dot(turned(subject, 1'000'007, {1, 0}), turned(subject, 1'000'004, {0.5, 0.5}));
  const double expected = (std::cos(3) + std::sin(3)) / 2;
  const double bound = 8 * subject.entry_error + 4 * unit;
  std::ostringstream note;
  note.precision(6);
  note << "q at 7 (" << q[0] << ", " << q[1] << "), k at 4 (" << k[0] << ", " << k[1] << "), product " << product
       << ", not rotated 0.5";
  return {at_most("q = (1,0) at 7 is (cos 7, sin 7)", subject.name,
                  largest_difference(q, std::vector{std::cos(7.0), std::sin(7.0)}), bound),
          at_most("q = (1,0) at 7 . k = (.5,.5) at 4 is (cos 3 + sin 3)/2", subject.name, std::fabs(product - expected),
                  bound, note.str()),
          at_most("and the same a million positions on", subject.name, std::fabs(later - expected), bound)};
}

// Entry (a, b) of R_p^T R_j is (R_p e_a) . (R_j e_b): two products of entries, each off by twice their error.
Checks rotations_compose(const Subject& subject) {
  struct Pair {
    Position p, j;
  };
  double value = 0;
  for (const Pair ids : {Pair{4, 7}, Pair{7, 4}, Pair{1'000'000, 1'000'123}, Pair{1'000'000'000, 999'999'000}}) {
    for (std::size_t b = 0; b < static_cast<std::size_t>(subject.width); ++b) {
      const std::vector<double> column = turned(subject, ids.j, axis(subject.width, b));
      const std::vector<double> difference = turned(subject, ids.j - ids.p, axis(subject.width, b));
      for (std::size_t a = 0; a < static_cast<std::size_t>(subject.width); ++a) {
        const double entry = dot(turned(subject, ids.p, axis(subject.width, a)), column);
        value = worse(std::fabs(entry - difference[a]), value);
      }
    }
  }
  return {at_most("R_p^T R_j = R_(j-p), also at 1e6 and 1e9", subject.name, value, 5 * subject.entry_error + 4 * unit)};
}

// Linear interpolation by 4: position p rotates like p/4, so 0, 2048, 4096, 8191 act as 0, 512, 1024, 2047.75.
Checks interpolation_by_four(const Subject& subject) {
  constexpr std::array<double, 4> as = {0, 512, 1024, 2047.75};
  double value = 0;
  for (std::size_t i = 0; i < as.size(); ++i) {
    const Position id = std::array<Position, 4>{0, 2048, 4096, 8191}[i];
    const std::vector<double> wanted = {std::cos(as[i]), std::sin(as[i])};
    value = worse(largest_difference(turned(subject, id, {1, 0}), wanted), value);
  }
  return {at_most("interpolation by 4: 0, 2048, 4096, 8191 act as 0, 512, 1024, 2047.75", subject.name, value,
                  2 * subject.entry_error + 4 * unit)};
}

Checks worked_rotations() {
  const Subject pair = subject_of(Encoding("rope", {{"head_dim", 2}, {"pairing", "half"}}));
  const Subject eight = subject_of(Encoding("rope", {{"head_dim", 8}, {"pairing", "interleaved"}}));
  Subject linear =
      subject_of(Encoding("rope", {{"head_dim", 2}, {"pairing", "half"}, {"rule", "linear"}, {"factor", 4}}));
  linear.name = "rope rule=linear";
  Checks checks = one_pair_at_seven_and_four(pair);
  for (const Checks& more : {rotations_compose(eight), interpolation_by_four(linear)}) {
    checks.insert(checks.end(), more.begin(), more.end());
  }
  return checks;
}

}  // namespace locus::doctor
