// SPDX-License-Identifier: Apache-2.0
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

namespace locus::bench {
namespace {

double clock_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

#if defined(CLOCK_THREAD_CPUTIME_ID) && defined(CLOCK_PROCESS_CPUTIME_ID)
double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double thread_seconds() { return seconds_on(CLOCK_THREAD_CPUTIME_ID); }
double process_seconds() { return seconds_on(CLOCK_PROCESS_CPUTIME_ID); }
#else  // no threads to tell apart
double thread_seconds() { return clock_seconds(); }
double process_seconds() { return clock_seconds(); }
#endif

int repeats_for(const std::function<void()>& call, double round_seconds) {
  call();
  const double once = std::max(seconds_of(call, 1), 1e-9);
  return std::clamp(static_cast<int>(round_seconds / once), 1, 1000000);
}

double median_of(std::span<const Times> calls, bool by_clock) {
  std::vector<double> seconds;
  for (const Times& times : calls) seconds.push_back(by_clock ? times.clock : times.thread);
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
  return seconds[seconds.size() / 2];
}

}  // namespace

Times times_of(const std::function<void()>& call, int repeats) {
  // The clock of the process is read outside that of the thread, which counts reading it as another's work; that is
  // less than a microsecond.
  const double process = process_seconds(), thread = thread_seconds(), clock = clock_seconds();
  for (int i = 0; i < repeats; ++i) call();
  Times times{.clock = clock_seconds() - clock, .thread = thread_seconds() - thread};
  times.others = std::max(0.0, process_seconds() - process - times.thread);
  times.clock /= repeats;
  times.thread /= repeats;
  times.others /= repeats;
  return times;
}

double seconds_of(const std::function<void()>& call, int repeats) {
  const double begin = clock_seconds();
  for (int i = 0; i < repeats; ++i) call();
  return (clock_seconds() - begin) / repeats;
}

bool used_threads(std::span<const Times> calls) {
  double own = 0, others = 0;
  for (const Times& times : calls) {
    own += times.thread;
    others += times.others;
  }
  return others > 0.1 * own;
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
  const int our_repeats = repeats_for(ours, pairs.round_seconds);
  const int limit_repeats = repeats_for(limit, pairs.round_seconds);
  std::vector<Times> our_times, limit_times;
  constexpr int dropped = 2;
  for (int round = -dropped; round < pairs.rounds; ++round) {
    // Running second may be an advantage or a disadvantage: alternate.
    Times our, other;
    if (round % 2 == 0) {
      our = times_of(ours, our_repeats);
      other = times_of(limit, limit_repeats);
    } else {
      other = times_of(limit, limit_repeats);
      our = times_of(ours, our_repeats);
    }
    if (pairs.progress) pairs.progress(static_cast<double>(round + dropped + 1) / (pairs.rounds + dropped));
    if (round < 0) continue;
    our_times.push_back(our);
    limit_times.push_back(other);
  }
  Comparison result;
  result.by_clock = used_threads(our_times) || used_threads(limit_times);
  const auto seconds = [&](const Times& times) {
    return std::max(result.by_clock ? times.clock : times.thread, 1e-12);  // a clock may be coarse
  };
  std::vector<double> ratios;
  for (std::size_t round = 0; round < our_times.size(); ++round) {
    const double our = seconds(our_times[round]), other = seconds(limit_times[round]);
    ratios.push_back(other / our);
    result.our_seconds = round == 0 ? our : std::min(result.our_seconds, our);
    result.limit_seconds = round == 0 ? other : std::min(result.limit_seconds, other);
  }
  result.share = median_with_interval(std::move(ratios));
  return result;
}

std::function<void()> fastest(const std::vector<std::function<void()>>& calls, const Pairs& pairs) {
  struct Candidate {
    const std::function<void()>* call;
    int repeats;
    std::vector<Times> times = {};
  };
  std::vector<Candidate> left;
  for (const auto& call : calls)
    left.push_back({&call, calls.size() == 1 ? 1 : repeats_for(call, pairs.round_seconds)});
  constexpr int rounds = 7;
  for (int round = 0; round < rounds && left.size() > 1; ++round) {
    bool by_clock = false;
    for (Candidate& one : left) {
      one.times.push_back(times_of(*one.call, one.repeats));
      by_clock = by_clock || used_threads(one.times);
    }
    const auto seconds = [&](const Candidate& one) { return median_of(one.times, by_clock); };
    std::ranges::sort(left, {}, seconds);
    const double much_slower = 1.5 * seconds(left.front());  // no need to time it again
    while (seconds(left.back()) > much_slower) left.pop_back();
  }
  return *left.front().call;
}

}  // namespace locus::bench
