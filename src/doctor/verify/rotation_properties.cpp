// SPDX-License-Identifier: Apache-2.0
// A rotation keeps lengths, and the product of two rotated vectors depends only on the difference of their ids.
#include "doctor/verify/property_list.h"

namespace locus::doctor {
namespace {

constexpr int rotation_trials = 32;

double error_at(const Subject& subject, Position distance) {
  return subject.entry_error + subject.angle_error * static_cast<double>(distance);
}

// Ids of a query and a key within 100 of each other, and the same ids shifted by about `distance` on each axis.
struct Moved {
  std::vector<Position> query, key, query_moved, key_moved;
};

Moved moved_pair(const Subject& subject, Samples& samples, Position distance) {
  Moved moved;
  const PositionRange near = around_zero(subject.range, 100);
  const Position room = near.last - near.first;
  for (int axis = 0; axis < subject.axes; ++axis) {
    const Position query = samples.integer(near.first, near.last);
    const Position key = samples.integer(near.first, near.last);
    const Position wanted = distance + samples.integer(0, room);
    const Position shift = std::min(wanted, subject.range.last - std::max(query, key));
    moved.query.push_back(query);
    moved.key.push_back(key);
    moved.query_moved.push_back(query + shift);
    moved.key_moved.push_back(key + shift);
  }
  return moved;
}

std::string near(Position distance) { return " near " + std::to_string(distance); }

// Returns the largest ||R x| / |x| - 1| for queries and keys at random ids near `distance`.
double norm_change(const Subject& subject, Position distance) {
  Samples samples(22);
  const PositionRange range = around_zero(subject.range, distance);
  double change = 0;
  for (int trial = 0; trial < rotation_trials; ++trial) {
    const std::vector<double> head = samples.vector(subject.width);
    std::vector<Position> ids;
    for (int axis = 0; axis < subject.axes; ++axis) {
      ids.push_back(samples.integer(range.last - (range.last - range.first) / 100, range.last));
    }
    for (const Role role : {Role::query, Role::key}) {
      change = worse(std::fabs(norm(subject.rotate(role, ids, head)) / norm(head) - 1), change);
    }
  }
  return change;
}

// cos^2 + sin^2 is 1 within twice an entry's error, for any angle. The two norms add a rounding per coordinate.
double norm_bound(const Subject& subject) {
  return 2 * subject.entry_error + (static_cast<double>(subject.width) + 4) * unit;
}

}  // namespace

// A rotated vector is off by twice an entry's error times its length, so a product is off by four times the error times
// both lengths. There are two products, each with a rounding per coordinate.
Checks dot_products_keep_shifts(const Subject& subject) {
  Checks checks;
  for (const Position distance : subject.distances) {
    if (distance > subject.range.last || error_at(subject, distance) > 0.01) continue;
    Samples samples(21);
    double value = 0;
    for (int trial = 0; trial < rotation_trials; ++trial) {
      const std::vector<double> q = samples.vector(subject.width), k = samples.vector(subject.width);
      const Moved ids = moved_pair(subject, samples, distance);
      const std::vector<double> here = subject.rotate(Role::query, ids.query, q);
      const std::vector<double> there = subject.rotate(Role::key, ids.key, k);
      const std::vector<double> here_moved = subject.rotate(Role::query, ids.query_moved, q);
      const std::vector<double> there_moved = subject.rotate(Role::key, ids.key_moved, k);
      const double size = std::max(norm(here) * norm(there), norm(here_moved) * norm(there_moved));
      value = worse(std::fabs(dot(here, there) - dot(here_moved, there_moved)) / size, value);
    }
    const double bound = 8 * error_at(subject, distance + 200) + 4 * static_cast<double>(subject.width) * unit;
    checks.push_back(at_most("relative: dot products depend on m - n only," + near(distance), subject.name, value,
                             bound, "of the vectors' lengths"));
  }
  return checks;
}

Checks rotation_keeps_norms(const Subject& subject) {
  Checks checks;
  for (const Position distance : subject.distances) {
    if (distance > subject.range.last && distance != subject.distances.front()) continue;
    checks.push_back(at_most("norm_preserving: vectors keep their length," + near(distance), subject.name,
                             norm_change(subject, distance), norm_bound(subject), "of the length"));
  }
  return checks;
}

Checks rotation_changes_norms(const Subject& subject) {
  return {at_least("not norm_preserving: vectors change their length", subject.name,
                   norm_change(subject, subject.distances.back()), 1000 * norm_bound(subject), "of the length")};
}

}  // namespace locus::doctor
