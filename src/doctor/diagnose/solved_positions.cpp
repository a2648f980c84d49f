// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/solved_positions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "doctor/diagnose/turn_rates.h"

namespace locus::doctor {
namespace {

constexpr Position lowest_position = -4096;
constexpr Position highest_position = Position{1} << 17;
constexpr double accepted = 3;  // a row of few pairs may be this far off by chance

// The angles and tolerances of one row, prepared for trying thousands of positions.
struct Row {
  std::vector<double> angle, sigma, w, w_sigma;
};

Row row_of(const Turning& turning, std::int64_t row, const Wheels& wheels, double unit) {
  Row result;
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    const auto n = static_cast<std::size_t>(i);
    result.angle.push_back(std::arg(turning.at(row, i)));
    result.sigma.push_back(angle_sigma(turning, row, i, unit));
    result.w.push_back(wheels.w[n]);
    // float32 arithmetic gives a frequency an error of one or two ulps.
    const double own = wheels.sigma.empty() ? 0 : wheels.sigma[n];
    result.w_sigma.push_back(std::hypot(own, std::abs(wheels.w[n]) * 0x1p-23));
  }
  return result;
}

// Stops at `limit`: a larger sum of squares is rejected anyway.
double misfit_of(const Row& row, double p, double limit) {
  double sum = 0;
  for (std::size_t i = 0; i < row.angle.size(); ++i) {
    const double off = wrapped(row.angle[i] - row.w[i] * p);
    const double own = row.sigma[i];
    const double far = row.w_sigma[i] * p;
    sum += off * off / (own * own + far * far);
    if (sum > limit) break;
  }
  return std::sqrt(sum / static_cast<double>(row.angle.size()));
}

// Large positions are rarely far from the intended ones.
std::optional<Position> searched_near(const Row& row, Position guess) {
  const double limit = accepted * accepted * static_cast<double>(row.angle.size());
  for (Position by = 0; by <= -lowest_position; ++by) {
    for (const Position p : {guess + by, guess - by}) {
      if (misfit_of(row, static_cast<double>(p), limit) < 1.5) return p;
    }
  }
  return std::nullopt;
}

// Returns the smallest position that fits about as well as any. Tries small positions first, since most dumps start
// there.
std::optional<Position> searched(const Row& row, int& far_searches) {
  const double limit = accepted * accepted * static_cast<double>(row.angle.size());
  double best = accepted;
  std::vector<std::pair<Position, double>> fitting;
  for (Position p = 0; p <= highest_position; ++p) {  // by size: 0, 1, -1, 2, -2, ...
    if (p == -lowest_position + 1 && (best < 1.5 || far_searches-- <= 0)) break;
    for (const Position signed_p : {p, -p}) {
      if (signed_p < lowest_position || (signed_p != p && p == 0)) continue;
      const double misfit = misfit_of(row, static_cast<double>(signed_p), limit);
      if (misfit > accepted) continue;
      fitting.emplace_back(signed_p, misfit);
      best = std::min(best, misfit);
    }
  }
  for (const auto& [p, misfit] : fitting) {
    if (misfit <= std::max(1.5, 1.3 * best)) return p;
  }
  return std::nullopt;
}

}  // namespace

double row_misfit(const Turning& turning, std::int64_t row, const Wheels& wheels, double p, double unit) {
  return misfit_of(row_of(turning, row, wheels, unit), p, std::numeric_limits<double>::infinity());
}

SolvedPositions solve_positions(const Turning& turning, std::int64_t tokens, const Wheels& wheels, double unit,
                                const std::vector<Position>& guess, bool search) {
  constexpr std::int64_t patience = 3;  // number of unexplained rows before the search stops
  int far_searches = 12;                // slow; positions of one dump are rarely far from each other
  SolvedPositions solved;
  const double limit = accepted * accepted * static_cast<double>(turning.pairs);
  for (std::int64_t t = 0; t < turning.rows; ++t) {
    const Row row = row_of(turning, t, wheels, unit);
    std::vector<Position> likely;
    const auto n = static_cast<std::size_t>(t);
    if (t % tokens != 0 && solved.found[n - 1]) {
      likely.push_back(solved.p[n - 1] + guess[n] - guess[n - 1]);
      likely.push_back(solved.p[n - 1] + 1);
      if (t % tokens != 1 && solved.found[n - 2]) likely.push_back(2 * solved.p[n - 1] - solved.p[n - 2]);
    }
    for (const Position one : {guess[n], Position{0}, 2 * guess[n], -guess[n]}) likely.push_back(one);
    std::optional<Position> p;
    double best = accepted;
    for (const Position one : likely) {
      const double misfit = misfit_of(row, static_cast<double>(one), limit);
      if (misfit < best) {
        best = misfit;
        p = one;
      }
    }
    if (!p && search && solved.unexplained < patience) {
      if (guess[n] > -lowest_position) p = searched_near(row, guess[n]);
      if (!p) p = searched(row, far_searches);
    }
    solved.p.push_back(p.value_or(guess[n]));
    solved.found.push_back(p.has_value());
    if (!p) ++solved.unexplained;
  }
  return solved;
}

}  // namespace locus::doctor
