// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace locus::bench {

double seconds_of(const std::function<void()>& call, int repeats) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < repeats; ++i) call();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(end - begin).count() / repeats;
}

Ratio median_with_interval(std::vector<double> ratios) {
  if (ratios.empty()) return {};
  std::sort(ratios.begin(), ratios.end());
  const auto n = static_cast<double>(ratios.size());
  // The median lies between the order statistics n/2 -+ 0.98 sqrt(n) with probability 0.95.
  const double reach = 0.98 * std::sqrt(n);
  const auto at = [&](double index) { return ratios[static_cast<std::size_t>(std::clamp(index, 0.0, n - 1))]; };
  const std::size_t middle = ratios.size() / 2;
  const double median = ratios.size() % 2 == 1 ? ratios[middle] : (ratios[middle - 1] + ratios[middle]) / 2;
  return {median, at(std::floor(n / 2 - reach)), at(std::ceil(n / 2 + reach))};
}

Comparison compare(const std::function<void()>& ours, const std::function<void()>& limit, const Pairs& pairs) {
  const auto repeats_for = [&](const std::function<void()>& call) {
    call();
    const double once = std::max(seconds_of(call, 1), 1e-9);
    return std::clamp(static_cast<int>(pairs.round_seconds / once), 1, 1000000);
  };
  const int our_repeats = repeats_for(ours);
  const int limit_repeats = repeats_for(limit);
  Comparison result;
  std::vector<double> ratios;
  constexpr int dropped = 2;
  for (int round = -dropped; round < pairs.rounds; ++round) {
    // Running second may be an advantage or a disadvantage: alternate.
    double our_seconds = 0;
    double limit_seconds = 0;
    if (round % 2 == 0) {
      our_seconds = seconds_of(ours, our_repeats);
      limit_seconds = seconds_of(limit, limit_repeats);
    } else {
      limit_seconds = seconds_of(limit, limit_repeats);
      our_seconds = seconds_of(ours, our_repeats);
    }
    if (pairs.progress) pairs.progress(static_cast<double>(round + dropped + 1) / (pairs.rounds + dropped));
    if (round < 0) continue;
    ratios.push_back(limit_seconds / our_seconds);
    result.our_seconds = round == 0 ? our_seconds : std::min(result.our_seconds, our_seconds);
    result.limit_seconds = round == 0 ? limit_seconds : std::min(result.limit_seconds, limit_seconds);
  }
  result.share = median_with_interval(std::move(ratios));
  return result;
}

}  // namespace locus::bench
