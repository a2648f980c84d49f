// SPDX-License-Identifier: Apache-2.0
// The biases of five tokens, the slopes of eight heads, and T5's 32 buckets.
#include <sstream>

#include "doctor/verify/worked.h"

namespace locus::doctor {
namespace {

constexpr Position five = 5;

std::string last_row(const Subject& subject, std::int64_t head) {
  std::ostringstream text;
  text << "last of 5 queries:";
  for (Position key = 0; key < five; ++key) text << ' ' << subject.bias(head, five - 1, key);
  return text.str();
}

// Returns the largest difference from step times distance, over the keys at and before each of five queries.
double off_from(const Subject& subject, std::int64_t head, double step) {
  double value = 0;
  for (Position query = 0; query < five; ++query) {
    for (Position key = 0; key <= query; ++key) {
      value = worse(std::fabs(subject.bias(head, query, key) - step * static_cast<double>(query - key)), value);
    }
  }
  return value;
}

}  // namespace

// Powers of two, so every number is exact.
Checks slopes_halve(const Subject& subject) {
  double value = 0, ratio = 0;
  std::ostringstream note;
  for (std::int64_t head = 0; head < 8; ++head) {
    const double slope = -subject.bias(head, 1, 0);
    note << (head == 0 ? "slopes 1/" : ", 1/") << 1 / slope;
    value = worse(std::fabs(slope - std::ldexp(1.0, -static_cast<int>(head) - 1)), value);
    if (head > 0) ratio = worse(std::fabs(slope / -subject.bias(head - 1, 1, 0) - 0.5), ratio);
  }
  return {at_most("slopes of 8 heads are 1/2 ... 1/256", subject.name, value, 0, note.str()),
          at_most("slopes form a geometric series", subject.name, ratio, 0, "each is half of the previous one")};
}

Checks quarter_slope_of_five(const Subject& subject) {
  return {at_most("slope -0.25, T = 5: -1.0 at distance 4", subject.name, off_from(subject, 1, -0.25), 0,
                  last_row(subject, 1))};
}

// A float32 table holds -0.1 n within half an ulp of 0.4.
Checks tenth_per_step(const Subject& subject) {
  return {at_most("a relative bias of -0.1 |i - j| is -0.4 at distance 4", subject.name, off_from(subject, 0, -0.1),
                  0.5 * 0x1p-24, last_row(subject, 0))};
}

// 16 buckets for each sign: 0 to 7 have one each, the last starts at ceil(8 x 16^(7/8)) = 91.
Checks buckets_rise_and_saturate(const Index& bucket) {
  double falls = 0, wrong = 0;
  for (Position distance = 1; distance <= 1000; ++distance) {
    falls += bucket(distance, 0) < bucket(distance - 1, 0) ? 1 : 0;
    falls += distance > 1 && bucket(0, distance) < bucket(0, distance - 1) ? 1 : 0;
  }
  for (Position distance = 0; distance < 8; ++distance) wrong += bucket(distance, 0) == distance ? 0 : 1;
  for (const Position distance : {Position{91}, Position{128}, Position{1000}, max_position}) {
    wrong += bucket(distance, 0) == 15 ? 0 : 1;
    wrong += bucket(0, distance) == 31 ? 0 : 1;
  }
  wrong += bucket(90, 0) == 14 ? 0 : 1;
  return {
      exactly("buckets never fall with distance", "t5", falls, 0, "decreases over 1000 distances in both directions"),
      exactly("buckets 0 to 7 are distances, from 91 on all is 15 (31 ahead)", "t5", wrong, 0, "wrong buckets")};
}

Checks offsets_are_query_minus_key(const Index& offset) {
  double wrong = 0;
  std::ostringstream note;
  note << "T = 5:";
  for (Position query = 0; query < five; ++query) {
    note << (query == 0 ? " " : " | ");
    for (Position key = 0; key < five; ++key) {
      note << (key == 0 ? "" : " ") << offset(query, key);
      wrong += offset(query, key) == query - key ? 0 : 1;
    }
  }
  return {exactly("offset matrix is query minus key", "shaw", wrong, 0, note.str())};
}

Checks worked_scores() {
  const Subject alibi = subject_of(Encoding("alibi", {{"heads", 8}}));
  Tensor tenths{.shape = {9, 1}, .data = {}};
  for (int row = 0; row < 9; ++row) tenths.data.push_back(-0.1f * static_cast<float>(std::abs(row - 4)));
  const Subject relative = subject_of(Encoding("relative_bias", {{"heads", 1}, {"clip_left", 4}, {"table", tenths}}));
  const Encoding t5("t5", {{"heads", 1}});
  const Encoding shaw("shaw", {{"heads", 1}, {"head_dim", 2}, {"clip_left", 4}, {"index", "query_minus_key"}});
  // Row 4 of 9 is that of the token itself.
  const Index offset = [&](Position query, Position key) { return shaw.relative_keys().index(query, key) - 4; };
  Checks checks = slopes_halve(alibi);
  for (const Checks& more : {quarter_slope_of_five(alibi), tenth_per_step(relative),
                             buckets_rise_and_saturate(t5.score().bucket), offsets_are_query_minus_key(offset)}) {
    checks.insert(checks.end(), more.begin(), more.end());
  }
  return checks;
}

}  // namespace locus::doctor
