// SPDX-License-Identifier: Apache-2.0
// buckets(distances, count, max_distance): near distances alone, far ones together, later keys in bucket 0.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "locus/bias.h"

namespace locus::learn {
namespace {

struct BucketCase {
  std::int64_t count, farthest;
};

// The thresholds of these are no integers, so that every way of computing a logarithm agrees.
constexpr BucketCase bucket_cases[] = {{32, 128}, {16, 64}};

std::vector<double> true_buckets(const BucketCase& one, const std::vector<std::int64_t>& distances) {
  const Encoding encoding("t5",
                          {{"heads", 1},
                           {"num_buckets", one.count},
                           {"max_distance", one.farthest},
                           {"bidirectional", false},
                           {"table", Tensor{{one.count, 1}, std::vector<float>(static_cast<std::size_t>(one.count))}}});
  const Position query = 100000;
  std::vector<Position> keys;
  for (const std::int64_t distance : distances) keys.push_back(query - distance);
  const std::vector<std::int64_t> found = bucket_matrix(encoding, std::span(&query, 1), keys);
  return {found.begin(), found.end()};
}

std::string cause_of_buckets(const std::vector<double>& got, const BucketCase& one,
                             const std::vector<std::int64_t>& distances) {
  const auto count = static_cast<double>(one.count), farthest = static_cast<double>(one.farthest);
  const double exact = count / 2;
  const auto all = [&](auto bucket) {
    return [&, bucket] {
      std::vector<double> values;
      for (const std::int64_t distance : distances) values.push_back(bucket(static_cast<double>(distance)));
      return values;
    };
  };
  const auto part = [=](double r) { return std::log(r / exact) / std::log(farthest / exact) * (count - exact); };
  const auto far = [=](double r) { return exact + std::floor(part(r)); };
  const auto usual = [=](double r) { return r < 0 ? 0 : r < exact ? r : std::min(far(r), count - 1); };
  return likely_cause(
      got, {{"t5.not_clamped", all([=](double r) { return r < 0       ? 0
                                                          : r < exact ? r
                                                                      : far(r); })},
            {"t5.future_folded", all([=](double r) { return usual(std::abs(r)); })},
            {"t5.future_kept", all([=](double r) { return r < 0 ? r : usual(r); })},
            {"t5.rounded", all([=](double r) {
               return r < 0 ? 0 : r < exact ? r : std::min(exact + std::round(part(r)), count - 1);
             })},
            {"t5.no_exact_part", all([=](double r) {
               return r < 1 ? 0 : std::min(std::floor(std::log(r) / std::log(farthest) * count), count - 1);
             })},
            {"t5.all_exact", all([=](double r) { return std::clamp(r, 0.0, count - 1); })},
            {"t5.linear", all([=](double r) {
               return r < 0 ? 0
                      : r < exact
                          ? r
                          : std::min(exact + std::floor((r - exact) / (farthest - exact) * (count - exact)), count - 1);
             })},
            {"t5.start_missing", all([=](double r) {
               return r < 0 ? 0 : r < exact ? r : std::min(std::floor(part(r)), count - 1);
             })},
            {"t5.log_base", all([=](double r) {
               return r < 0 ? 0
                      : r < exact
                          ? r
                          : std::min(exact + std::floor(std::log(r / exact) / std::log(farthest) * (count - exact)),
                                     count - 1);
             })},
            {"t5.fraction", all([=](double r) {
               return r < 0 ? 0 : r < exact ? r : std::min(exact + part(r), count - 1);
             })}});
}

void check_buckets(Solution& solution, const BucketCase& one) {
  std::vector<std::int64_t> distances;
  for (std::int64_t r = -5; r <= 3 * one.farthest; ++r) distances.push_back(r);
  const Array ids = Array::ids(distances);
  const std::vector<double> got =
      solution.call("buckets", {ids, Array::number(one.count), Array::number(one.farthest)}, ids.shape).values;
  const std::string cause = cause_of_buckets(got, one, distances);
  const auto parameters = [&](std::size_t i) {
    return Parameters{{"distance", shown(distances[i])},
                      {"count", shown(one.count)},
                      {"farthest", shown(one.farthest)},
                      {"bucket", shown(got[i])}};
  };
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] != std::floor(got[i])) throw BrokenLaw{"t5.whole", cause, parameters(i)};
    if (got[i] < 0 || got[i] >= static_cast<double>(one.count)) throw BrokenLaw{"t5.range", cause, parameters(i)};
    if (distances[i] < 0 && got[i] != 0) throw BrokenLaw{"t5.future", cause, parameters(i)};
    if (distances[i] > 0 && got[i] < got[i - 1]) throw BrokenLaw{"t5.monotone", cause, parameters(i)};
  }
  require_equal(got, true_buckets(one, distances), "t5.thresholds", cause, parameters);
}

}  // namespace

void laws_of_t5_buckets(Solution& solution) {
  for (const BucketCase& one : bucket_cases) check_buckets(solution, one);
}

}  // namespace locus::learn
