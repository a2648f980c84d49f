// SPDX-License-Identifier: Apache-2.0
// slopes(heads): a geometric series; for other numbers of heads than powers of two, two of them. bias(slopes, queries,
// keys): each slope times minus the distance.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "learn/laws/compare.h"
#include "learn/laws/doctors_view.h"
#include "learn/laws/laws.h"
#include "locus/bias.h"
#include "locus/doctor/verify_callable.h"

namespace locus::learn {
namespace {

Encoding alibi(std::int64_t heads) { return Encoding("alibi", {{"heads", heads}}); }

/// The slopes are what the bias of a key one before the query says.
std::vector<double> true_slopes(std::int64_t heads) {
  const Position query = 1, key = 0;
  std::vector<double> slopes = bias_matrix(alibi(heads), std::span(&query, 1), std::span(&key, 1));
  for (double& slope : slopes) slope = -slope;
  return slopes;
}

std::vector<double> series(std::int64_t heads, const std::function<double(double)>& slope) {
  std::vector<double> slopes;
  for (std::int64_t h = 0; h < heads; ++h) slopes.push_back(slope(static_cast<double>(h)));
  return slopes;
}

std::string cause_of_slopes(const std::vector<double>& got, std::int64_t heads) {
  const auto count = static_cast<double>(heads);
  return likely_cause(
      got, {{"alibi.from_one", [&] { return series(heads, [=](double h) { return std::exp2(-8 * h / count); }); }},
            {"alibi.not_by_heads", [&] { return series(heads, [](double h) { return std::exp2(-(h + 1)); }); }},
            {"alibi.linear", [&] { return series(heads, [=](double h) { return (h + 1) / count; }); }},
            {"alibi.equal", [&] { return std::vector<double>(got.size(), got.front()); }},
            {"alibi.reversed",
             [&] {
               std::vector<double> slopes = true_slopes(heads);
               std::reverse(slopes.begin(), slopes.end());
               return slopes;
             }},
            {"alibi.negative",
             [&] {
               std::vector<double> slopes = true_slopes(heads);
               for (double& slope : slopes) slope = -slope;
               return slopes;
             }},
            {"alibi.no_power_of_two",
             [&] { return series(heads, [=](double h) { return std::exp2(-8 * (h + 1) / count); }); }},
            {"alibi.next_power",
             [&] {
               std::vector<double> slopes =
                   true_slopes(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(heads))));
               slopes.resize(static_cast<std::size_t>(heads));
               return slopes;
             }},
            {"alibi.sorted",
             [&] {
               std::vector<double> slopes = true_slopes(heads);
               std::sort(slopes.begin(), slopes.end(), std::greater<>());
               return slopes;
             }},
            {"alibi.second_series_from_start", [&] {
               const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(heads)));
               std::vector<double> slopes = true_slopes(power);
               const std::vector<double> more = true_slopes(2 * power);
               slopes.insert(slopes.end(), more.begin(), more.begin() + (heads - power));
               return slopes;
             }}});
}

}  // namespace

void laws_of_alibi_slopes(Solution& solution) {
  const auto slopes_of = [&](std::int64_t heads) {
    return solution.call("slopes", {Array::number(heads)}, {heads}).values;
  };
  for (const std::int64_t heads : {8, 4, 16, 1, 2, 12, 20}) {
    const std::vector<double> got = slopes_of(heads);
    const std::vector<double> wanted = true_slopes(heads);
    if (agree(got, wanted)) continue;
    const std::string cause = cause_of_slopes(got, heads);
    const Parameters parameters = {{"heads", shown(heads)}, {"head", shown(first_difference(got, wanted))}};
    if (std::any_of(got.begin(), got.end(), [](double slope) { return slope <= 0; })) {
      throw BrokenLaw{"alibi.positive", cause, parameters};
    }
    throw BrokenLaw{std::has_single_bit(static_cast<std::uint64_t>(heads)) ? "alibi.geometric" : "alibi.two_series",
                    cause, parameters};
  }
}

void laws_of_alibi_bias(Solution& solution) {
  const auto bias = [&](const std::vector<double>& slopes, const std::vector<std::int64_t>& queries,
                        const std::vector<std::int64_t>& keys) {
    const auto heads = static_cast<std::int64_t>(slopes.size());
    const Array ids = Array::ids(queries), others = Array::ids(keys);
    return solution.call("bias", {Array::real({heads}, slopes), ids, others}, {heads, ids.size(0), others.size(0)});
  };
  constexpr std::int64_t heads = 4;
  const std::vector<double> slopes = true_slopes(heads);
  // Decoding: the last three of eight tokens ask. Indices are not ids here.
  const std::vector<std::int64_t> queries = {5, 6, 7}, keys = {0, 1, 2, 3, 4, 5, 6, 7};
  const Array got = bias(slopes, queries, keys);
  const auto filled = [&](auto number) {
    std::vector<double> values;
    for (std::size_t h = 0; h < 4; ++h) {
      for (std::size_t i = 0; i < queries.size(); ++i) {
        for (std::size_t j = 0; j < keys.size(); ++j) values.push_back(keys[j] > queries[i] ? 0 : number(h, i, j));
      }
    }
    return values;
  };
  Array seen = got;  // keys after the query are the mask's business
  const std::vector<double> visible = filled([&](auto, auto, auto) { return 1.0; });
  for (std::size_t i = 0; i < seen.values.size(); ++i) {
    if (visible[i] == 0) seen.values[i] = 0;
  }
  const auto distance = [&](std::size_t i, std::size_t j) { return static_cast<double>(queries[i] - keys[j]); };
  const auto real = [](std::size_t i) { return static_cast<double>(i); };
  const std::string cause = likely_cause(
      seen.values,
      {{"alibi.sign", [&] { return filled([&](auto h, auto i, auto j) { return slopes[h] * distance(i, j); }); }},
       {"alibi.by_index",
        [&] { return filled([&](auto h, auto i, auto j) { return -slopes[h] * std::abs(real(i) - real(j)); }); }},
       {"alibi.by_index",
        [&] { return filled([&](auto h, auto i, auto j) { return -slopes[h] * (real(i) - real(j)); }); }},
       {"alibi.one_slope", [&] { return filled([&](auto, auto i, auto j) { return -slopes[0] * distance(i, j); }); }},
       {"alibi.off_by_one",
        [&] { return filled([&](auto h, auto i, auto j) { return -slopes[h] * (distance(i, j) + 1); }); }},
       {"alibi.squared",
        [&] { return filled([&](auto h, auto i, auto j) { return -slopes[h] * distance(i, j) * distance(i, j); }); }},
       {"alibi.by_key",
        [&] { return filled([&](auto h, auto, auto j) { return slopes[h] * static_cast<double>(keys[j]); }); }},
       {"alibi.nothing", [&] { return filled([](auto, auto, auto) { return 0.0; }); }}});
  const std::vector<double> wanted = filled([&](auto h, auto i, auto j) {
    return bias_matrix(alibi(heads), std::span(&queries[i], 1), std::span(&keys[j], 1))[h];
  });
  require_equal(seen.values, wanted, "alibi.bias", cause, [&](std::size_t index) {
    const std::size_t h = index / 24, i = index / 8 % 3, j = index % 8;
    return Parameters{{"head", shown(h)}, {"query", shown(queries[i])}, {"key", shown(keys[j])}};
  });
  require_passed(verify_bias(alibi(heads),
                             [&](const BiasRequest& request) {
                               const Array all = bias(slopes, {request.query_ids.begin(), request.query_ids.end()},
                                                      {request.key_ids.begin(), request.key_ids.end()});
                               for (std::size_t i = 0; i < all.values.size(); ++i)
                                 request.bias[i] = static_cast<float>(all.values[i]);
                             },
                             {.max_length = 4096}));
}

}  // namespace locus::learn
