// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/turn_rates.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace locus::doctor {
namespace {

constexpr std::int64_t longest_step = 3;  // 3 radians at the fastest frequency: less than half a turn

struct Step {
  std::int64_t row;  // the step is from this row to the next
  std::int64_t length;
};

std::int64_t length_of(const std::optional<std::vector<Position>>& ids, std::int64_t row) {
  if (!ids) return 1;
  return (*ids)[static_cast<std::size_t>(row + 1)] - (*ids)[static_cast<std::size_t>(row)];
}

Complex turn(const Turning& turning, std::int64_t from, std::int64_t to, std::int64_t pair) {
  return turning.at(to, pair) * std::conj(turning.at(from, pair));
}

bool turns(const Turning& turning, const Step& step, double unit) {
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    const double sigma =
        std::hypot(angle_sigma(turning, step.row, i, unit), angle_sigma(turning, step.row + 1, i, unit));
    if (std::abs(std::arg(turn(turning, step.row, step.row + 1, i))) > 8 * sigma) return true;
  }
  return false;
}

// A float32 angle p w is off by up to p w 2^-24; `angle` is about w.
double float32_variance(double angle, double far) {
  const double off = 0x1p-23 * far * std::min(angle, 1.0);
  return 1e-12 + off * off;
}

// True if nine tenths of the pairs turn alike; the others may have vectors that are nearly zero.
bool agree(const Turning& turning, const Step& a, const Step& b, double unit, double far) {
  std::int64_t apart = 0;
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    const double difference =
        std::arg(turn(turning, a.row, a.row + 1, i) * std::conj(turn(turning, b.row, b.row + 1, i)));
    const double angle = std::abs(std::arg(turn(turning, a.row, a.row + 1, i)));
    double variance = float32_variance(angle, far);
    for (const std::int64_t row : {a.row, a.row + 1, b.row, b.row + 1}) {
      const double sigma = angle_sigma(turning, row, i, unit);
      variance += sigma * sigma;
    }
    if (std::abs(difference) > 5 * std::sqrt(variance)) ++apart;
  }
  return apart * 10 <= turning.pairs;
}

// Returns the steps of the most common usable length, without those that turn nothing.
std::vector<Step> usable_steps(const Turning& turning, std::int64_t tokens, double unit,
                               const std::optional<std::vector<Position>>& ids) {
  std::map<std::int64_t, std::vector<Step>> by_length;
  for (std::int64_t row = 0; row + 1 < turning.rows; ++row) {
    if ((row + 1) % tokens == 0) continue;
    const Step step{row, length_of(ids, row)};
    if (step.length == 0 || std::abs(step.length) > longest_step || !turns(turning, step, unit)) continue;
    by_length[step.length].push_back(step);
  }
  std::vector<Step> most;
  for (auto& [length, steps] : by_length) {
    if (steps.size() > most.size()) most = std::move(steps);
  }
  return most;
}

std::vector<Step> majority(const Turning& turning, const std::vector<Step>& steps, double unit, double far) {
  std::vector<Step> best;
  const std::size_t stride = steps.size() / 32 + 1;
  for (std::size_t n = 0; n < steps.size(); n += stride) {
    std::vector<Step> like;
    for (const Step& other : steps) {
      if (agree(turning, steps[n], other, unit, far)) like.push_back(other);
    }
    if (like.size() > best.size()) best = std::move(like);
    if (best.size() * 2 > steps.size()) break;
  }
  return best;
}

// Doubles the lag, and thereby the precision, as long as there are unbroken runs of agreeing steps.
void refine(TurnRates& rates, const Turning& turning, const std::vector<Step>& steps, double unit, double far) {
  std::vector<std::int64_t> run(static_cast<std::size_t>(turning.rows), 0);  // agreeing steps that end at a row
  for (const Step& step : steps) {
    run[static_cast<std::size_t>(step.row + 1)] = run[static_cast<std::size_t>(step.row)] + 1;
  }
  const double length = static_cast<double>(steps.front().length);
  for (std::int64_t lag = 1; lag < turning.rows; lag *= 2) {
    for (std::int64_t i = 0; i < turning.pairs; ++i) {
      Complex sum = 0;
      double variance = 0;
      double count = 0;
      for (std::int64_t row = lag; row < turning.rows; ++row) {
        if (run[static_cast<std::size_t>(row)] < lag) continue;
        const Complex turned = turn(turning, row - lag, row, i);
        if (turned == Complex(0)) continue;
        sum += turned / std::abs(turned);
        const double sigma = std::hypot(angle_sigma(turning, row - lag, i, unit), angle_sigma(turning, row, i, unit));
        variance += sigma * sigma + float32_variance(std::abs(rates.w[static_cast<std::size_t>(i)]), far);
        ++count;
      }
      if (count == 0) continue;
      double& w = rates.w[static_cast<std::size_t>(i)];
      double& sigma = rates.sigma[static_cast<std::size_t>(i)];
      const double span = static_cast<double>(lag) * length;
      // Lagged pairs share rows, so the average of many gains less than with independent ones, by sqrt(lag).
      const double found =
          std::sqrt(variance) / count * std::sqrt(std::min(count, static_cast<double>(lag))) / std::abs(span);
      if (lag > 1 && (found > sigma || sigma * std::abs(span) > 0.5)) continue;
      w += wrapped(std::arg(sum) - w * span) / span;
      sigma = found;
    }
  }
}

}  // namespace

double wrapped(double angle) {
  // Adding and subtracting 1.5 * 2^52 rounds to the nearest integer. The search for positions spends most of its time
  // here.
  constexpr double rounder = 0x1.8p52;
  const double turns = (angle * (1 / (2 * std::numbers::pi)) + rounder) - rounder;
  return angle - 2 * std::numbers::pi * turns;
}

double angle_sigma(const Turning& turning, std::int64_t row, std::int64_t pair, double unit) {
  const double size = std::abs(turning.at(row, pair));
  if (!(size > 0)) return 1e3;
  const double own = turning.sigma_at(row, pair) / size;
  return std::min(1e3, std::sqrt(own * own + 0.25 * unit * unit));
}

std::optional<TurnRates> turn_rates(const Turning& turning, std::int64_t tokens, double unit,
                                    const std::optional<std::vector<Position>>& ids, double far) {
  const std::vector<Step> steps = usable_steps(turning, tokens, unit, ids);
  if (steps.empty()) return std::nullopt;
  const std::vector<Step> alike = majority(turning, steps, unit, far);
  if (alike.empty()) return std::nullopt;
  TurnRates rates;
  rates.w.assign(static_cast<std::size_t>(turning.pairs), 0);
  rates.sigma.assign(rates.w.size(), 1e3);
  rates.agreeing = static_cast<std::int64_t>(alike.size());
  rates.steps = static_cast<std::int64_t>(steps.size());
  refine(rates, turning, alike, unit, far);
  return rates;
}

}  // namespace locus::doctor
