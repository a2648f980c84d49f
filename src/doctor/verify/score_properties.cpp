// SPDX-License-Identifier: Apache-2.0
// The numbers added to scores, as a function of the ids of query and key.
#include "doctor/verify/property_list.h"

namespace locus::doctor {
namespace {

constexpr int score_trials = 200;

std::int64_t random_head(const Subject& subject, Samples& samples) { return samples.integer(0, subject.heads - 1); }

// A query and two keys on one side of it; the first is at least as near.
struct Sided {
  Position query, nearer, farther;
};

Sided one_side(const Subject& subject, Samples& samples, int trial, int side) {
  const Position distance = trial % 2 == 0 ? 50 : 1'000'000'000;
  const PositionRange range = around_zero(subject.range, distance);
  const Position query = samples.integer(range.first, range.last);
  const Position far = samples.integer(0, side < 0 ? query - range.first : range.last - query);
  const Position near = samples.integer(0, far);
  return {query, query + side * near, query + side * far};
}

std::vector<int> sides_of(const Subject& subject) {
  return subject.claims.has(Claim::causal_only) ? std::vector<int>{-1} : std::vector<int>{-1, 1};
}

// Returns the score of two fixed vectors: the bias alone, or that of the relative key.
double score(const Subject& subject, std::int64_t head, const std::vector<double>& q, const std::vector<double>& k,
             Position query, Position key) {
  return subject.bias ? subject.bias(head, query, key) : subject.relative_score(head, q, k, query, key);
}

// Returns the largest difference between scores before and after a common shift.
double change_by_shifts(const Subject& subject) {
  Samples samples(31);
  const std::vector<double> q = samples.vector(subject.width), k = samples.vector(subject.width);
  double value = 0;
  for (int trial = 0; trial < score_trials; ++trial) {
    const Position distance = subject.distances[static_cast<std::size_t>(trial) % subject.distances.size()];
    const PositionRange range = around_zero(subject.range, distance);
    const Position query = samples.integer(range.first, range.last);
    const Position least = std::max(range.first, query - subject.reach);
    const Position key = samples.integer(least, std::min(range.last, query + subject.reach));
    const Position shift = samples.integer(range.first - std::min(query, key), range.last - std::max(query, key));
    const std::int64_t head = random_head(subject, samples);
    value = worse(
        std::fabs(score(subject, head, q, k, query, key) - score(subject, head, q, k, query + shift, key + shift)),
        value);
  }
  return value;
}

// Returns the largest difference between (query, key) and (key, query), 1 to 1000 apart.
double change_by_exchange(const Subject& subject) {
  Samples samples(32);
  const PositionRange range = around_zero(subject.range, 1000);
  double value = 0;
  for (int trial = 0; trial < score_trials; ++trial) {
    const Position query = samples.integer(range.first, range.last), key = samples.integer(range.first, range.last);
    const std::int64_t head = random_head(subject, samples);
    value = worse(std::fabs(subject.bias(head, query, key) - subject.bias(head, key, query)), value);
  }
  return value;
}

}  // namespace

// A function of the difference gives identical bits.
Checks scores_keep_shifts(const Subject& subject) {
  return {at_most("relative: scores depend on the difference of ids only", subject.name, change_by_shifts(subject), 0)};
}

Checks scores_show_shifts(const Subject& subject) {
  return {at_least("not relative: shifting both ids changes the bias", subject.name, change_by_shifts(subject), 1e-6,
                   "a millionth is far above the rounding of double for biases near 1")};
}

// A bias is a slope times an integer distance, rounded once. The decrease over n steps is n times the first, within
// half an ulp of each of the three values.
Checks bias_is_linear(const Subject& subject) {
  Samples samples(33);
  double value = 0;
  for (int trial = 0; trial < score_trials; ++trial) {
    const std::int64_t head = random_head(subject, samples);
    for (const int side : sides_of(subject)) {
      const Sided at = one_side(subject, samples, trial, side);
      const double far = subject.bias(head, at.query, at.farther);
      const double step = subject.bias(head, 0, 0) - subject.bias(head, 0, side);
      const double fall = subject.bias(head, at.query, at.nearer) - far;
      const double steps = std::fabs(static_cast<double>(at.farther - at.nearer));
      if (!(step > 0)) return {at_most("linear_in_distance: equal steps", subject.name, HUGE_VAL, 0, "no decrease")};
      value = worse(std::fabs(fall - steps * step) / std::max(std::fabs(far), step), value);
    }
  }
  return {at_most("linear_in_distance: every step away costs the same", subject.name, value, 4 * unit,
                  "of the bias, over up to 1e9 steps")};
}

Checks bias_never_grows(const Subject& subject) {
  Samples samples(34);
  double value = 0;
  for (int trial = 0; trial < score_trials; ++trial) {
    const std::int64_t head = random_head(subject, samples);
    for (const int side : sides_of(subject)) {
      const Sided at = one_side(subject, samples, trial, side);
      value = worse(subject.bias(head, at.query, at.farther) - subject.bias(head, at.query, at.nearer), value);
    }
  }
  return {at_most("decaying: the bias never grows with distance", subject.name, value, 0)};
}

Checks bias_is_the_same_both_ways(const Subject& subject) {
  return {at_most("distance_only: the bias is the same forwards and backwards", subject.name,
                  change_by_exchange(subject), 0)};
}

Checks bias_differs_both_ways(const Subject& subject) {
  return {at_least("not distance_only: the bias differs forwards and backwards", subject.name,
                   change_by_exchange(subject), 1e-6, "a millionth is far above the rounding of double")};
}

// Keys after the query get no lower bias than the query itself, so only a mask excludes them.
Checks bias_leaves_the_future(const Subject& subject) {
  Samples samples(35);
  double value = 0;
  for (int trial = 0; trial < score_trials; ++trial) {
    const std::int64_t head = random_head(subject, samples);
    const Sided at = one_side(subject, samples, trial, 1);
    value = worse(subject.bias(head, at.query, at.query) - subject.bias(head, at.query, at.farther), value);
  }
  return {at_most("causal_only: keys after the query are left to the mask", subject.name, value, 0,
                  "how much lower the bias of a later key is")};
}

}  // namespace locus::doctor
