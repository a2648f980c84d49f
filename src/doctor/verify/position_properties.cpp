// SPDX-License-Identifier: Apache-2.0
// Which ids are accepted, and what the numbers of a position depend on.
#include "doctor/verify/property_list.h"

namespace locus::doctor {
namespace {

// Returns all numbers that the subject computes for one id (for biases, of this id and the one nearest to 0).
std::vector<double> numbers_at(const Subject& subject, Position id) {
  Samples samples(51);
  const std::vector<double> q = samples.vector(subject.width), k = samples.vector(subject.width);
  const Position zero = std::clamp<Position>(0, subject.range.first, subject.range.last);
  const Position other = std::clamp(zero, id - subject.reach, id + subject.reach);
  std::vector<double> numbers;
  const auto add = [&](const std::vector<double>& more) { numbers.insert(numbers.end(), more.begin(), more.end()); };
  if (subject.row) add(subject.row(id));
  if (subject.add_rows) add(subject.add_rows({q}, std::span(&id, 1)).front());
  if (subject.rotate) {
    const std::vector<Position> ids(static_cast<std::size_t>(subject.axes), id);
    add(subject.rotate(Role::query, ids, q));
    add(subject.rotate(Role::key, ids, k));
    add({subject.scale});  // dual chunks change it alone
  }
  for (std::int64_t head = 0; head < subject.heads; ++head) {
    if (subject.bias) add({subject.bias(head, id, other), subject.bias(head, other, id)});
    if (subject.relative_score) {
      add({subject.relative_score(head, q, k, id, other), subject.relative_score(head, q, k, other, id)});
    }
  }
  return numbers;
}

std::vector<Position> some_ids(const Subject& subject) {
  Samples samples(52);
  const PositionRange range = around_zero(subject.range, 100'000);
  std::vector<Position> ids{range.first, range.last};
  for (int i = 0; i < 8; ++i) ids.push_back(samples.integer(range.first, range.last));
  return ids;
}

// Counts ids that are refused or whose numbers are not finite.
double count_refused(const Subject& subject, std::initializer_list<Position> ids) {
  double count = 0;
  for (const Position id : ids) {
    bool served = subject.accepts(id);
    if (served) {
      for (const double number : numbers_at(subject, id)) served = served && std::isfinite(number);
    }
    count += served ? 0 : 1;
  }
  return count;
}

double served(const Subject& subject, std::initializer_list<Position> ids) {
  return static_cast<double>(std::count_if(ids.begin(), ids.end(), subject.accepts));
}

}  // namespace

// Compares lengths with each other, because at_length() may not affect a user function.
Checks numbers_keep_at_any_length(const Subject& subject) {
  const Subject brief = subject.at_length(1);
  double value = 0;
  for (const std::int64_t length : {std::int64_t{100}, std::int64_t{10'000}, max_position}) {
    const Subject longer = subject.at_length(length);
    for (const Position id : some_ids(subject)) {
      value = worse(largest_difference(numbers_at(brief, id), numbers_at(longer, id)), value);
    }
  }
  return {at_most("cache_safe: a position's numbers do not change with the length", subject.name, value, 0)};
}

// Rules that depend on the length change beyond the trained length; 2^30 is beyond any.
Checks numbers_change_with_length(const Subject& subject) {
  const Position id = around_zero(subject.range, 10).last;
  const Subject brief = subject.at_length(100), lengthy = subject.at_length(std::int64_t{1} << 30);
  const bool far_away = !lengthy.accepts(id);  // xPos's centre has moved too far
  const Subject& longer = far_away ? subject.at_length(10'000) : lengthy;
  return {at_least("not cache_safe: a position's numbers change with the length", subject.name,
                   largest_difference(numbers_at(brief, id), numbers_at(longer, id)), 1e-6,
                   "id " + std::to_string(id) + ", a millionth is far above the rounding of double")};
}

// Rows from neighbours: a causal one stays when tokens follow, any other changes.
Checks rows_keep_as_tokens_follow(const Subject& subject) {
  if (!subject.add_rows) return {};
  Samples samples(53);
  std::vector<std::vector<double>> states;
  std::vector<Position> ids;
  for (Position t = 0; t < 6; ++t) {
    states.push_back(samples.vector(subject.width));
    ids.push_back(t);
  }
  const auto longer = subject.add_rows(states, ids);
  states.pop_back();
  const auto brief = subject.add_rows(states, std::span(ids).first(5));
  double value = 0;
  for (std::size_t t = 0; t < 5; ++t) value = worse(largest_difference(brief[t], longer[t]), value);
  if (subject.claims.has(Claim::cache_safe)) {
    return {at_most("cache_safe: a token's row does not change as tokens follow", subject.name, value, 0)};
  }
  return {at_least("not cache_safe: a token's row changes as a token follows", subject.name, value, 1e-6,
                   "a millionth is far above the rounding of double")};
}

Checks negative_ids_are_served(const Subject& subject) {
  return {exactly("negative_positions: ids below 0 are served", subject.name,
                  count_refused(subject, {-1, std::min<Position>(subject.range.first, -1)}), 0,
                  "ids refused or without finite numbers")};
}

Checks negative_ids_are_refused(const Subject& subject) {
  return {exactly("not negative_positions: ids below 0 are refused", subject.name, served(subject, {-1, -max_position}),
                  0, "ids accepted")};
}

Checks last_id_is_served(const Subject& subject) {
  return {exactly("unbounded: ids up to 2147483647 are served", subject.name,
                  count_refused(subject, {max_position / 2, max_position}), 0,
                  "ids refused or without finite numbers")};
}

Checks ids_beyond_are_refused(const Subject& subject) {
  return {exactly("ids beyond " + std::to_string(subject.range.last) + " are refused", subject.name,
                  served(subject, {subject.range.last + 1, max_position + 1}), 0, "ids accepted")};
}

Checks weights_matter(const Subject& subject) {
  const Subject other = subject.with_other_weights();
  double value = 0;
  for (const Position id : some_ids(subject)) {
    value = worse(largest_difference(numbers_at(subject, id), numbers_at(other, id)), value);
  }
  return {at_least("learned: other weights give other numbers", subject.name, value, 1e-6,
                   "a millionth is far above the rounding of double")};
}

// An encoding that does nothing keeps all vector lengths.
Checks nothing_is_done(const Subject& subject) {
  const bool idle = !subject.row && !subject.add_rows && !subject.rotate && !subject.bias && !subject.relative_score;
  return {exactly("norm_preserving: nothing is done to the vectors", subject.name, idle ? 0 : 1, 0)};
}

}  // namespace locus::doctor
