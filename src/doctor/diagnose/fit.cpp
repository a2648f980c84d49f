// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "doctor/diagnose/predictions.h"

namespace locus::doctor {
namespace {

// A float32 angle is off by half a unit in the last place. Its frequency is off by a few, because the logarithm of the
// base multiplies the rounded exponent.
constexpr double float32_sigma = 2.5 * 0x1p-24;
constexpr double most_off = 20;        // limits the influence of a single number
constexpr double most_numbers = 2000;  // more are not independent
constexpr double bad_row = 3;
constexpr double bad_pair = 4;

struct Offs {
  std::vector<double> off;    // with the allowance for float32 angles
  std::vector<double> exact;  // without
  std::vector<double> angle;
};

Offs offs_of(const Turning& turning, const Prediction& prediction) {
  Offs offs;
  const std::size_t count = turning.z.size();
  offs.off.resize(count);
  offs.exact.resize(count);
  offs.angle.resize(count);
  for (std::size_t n = 0; n < count; ++n) {
    const double size = std::abs(turning.z[n]);
    if (!(size > 0) || !std::isfinite(turning.sigma[n])) continue;
    const double sigma = turning.sigma[n] / size;
    const double angle = std::arg(turning.z[n] * std::conj(prediction.z[n]));
    const double slack = prediction.angle.empty() ? 0 : float32_sigma * std::abs(prediction.angle[n]);
    // A comparison with NaN fails.
    const double off = std::isfinite(angle) ? std::abs(angle) / std::hypot(sigma, slack) : most_off;
    offs.off[n] = std::min(off, most_off);
    offs.exact[n] = std::min(std::isfinite(angle) ? std::abs(angle) / sigma : most_off, most_off);
    offs.angle[n] = std::isfinite(angle) ? std::abs(angle) : 0;
  }
  return offs;
}

}  // namespace

Fit fit_of(const Turning& turning, const Prediction& prediction) {
  const Offs offs = offs_of(turning, prediction);
  const auto at = [&](std::int64_t row, std::int64_t i) { return static_cast<std::size_t>(row * turning.pairs + i); };
  Fit fit;
  std::vector<std::uint8_t> skipped(static_cast<std::size_t>(turning.pairs), 0);
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    std::vector<double> column;
    for (std::int64_t row = 0; row < turning.rows; ++row) {
      if (std::isfinite(turning.sigma[at(row, i)])) column.push_back(offs.off[at(row, i)]);
    }
    if (column.empty() || median(std::move(column)) < bad_pair) continue;
    skipped[static_cast<std::size_t>(i)] = 1;
    fit.bad_pairs.push_back(i);
  }
  double exact = 0, count = 0;
  for (std::int64_t row = 0; row < turning.rows; ++row) {
    double sum = 0, sum_exact = 0, pairs = 0;
    for (std::int64_t i = 0; i < turning.pairs; ++i) {
      if (skipped[static_cast<std::size_t>(i)] != 0 || !std::isfinite(turning.sigma[at(row, i)])) continue;
      const double off = offs.off[at(row, i)];
      sum += off * off;
      sum_exact += offs.exact[at(row, i)] * offs.exact[at(row, i)];
      ++pairs;
      if (offs.angle[at(row, i)] > fit.worst_angle && offs.exact[at(row, i)] > 3) {
        fit.worst_angle = offs.angle[at(row, i)];
        fit.worst_row = row;
        fit.worst_pair = i;
      }
    }
    if (pairs == 0) continue;
    if (std::sqrt(sum / pairs) > bad_row) {
      fit.bad_rows.push_back(row);
      continue;
    }
    fit.squares += sum;
    exact += sum_exact;
    count += pairs;
  }
  if (count > 0) {
    fit.misfit = std::sqrt(fit.squares / count);
    fit.exact_misfit = std::sqrt(exact / count);
    fit.squares *= std::min(1.0, most_numbers / count);
  } else {
    fit.misfit = most_off;
  }
  return fit;
}

double visible_difference(const Turning& turning, const Prediction& one, const Prediction& other) {
  constexpr double clearly = 3;
  const Offs of_one = offs_of(turning, one), of_other = offs_of(turning, other);
  double sum = 0, count = 0;
  for (std::size_t n = 0; n < turning.z.size(); ++n) {
    const double size = std::abs(turning.z[n]);
    if (!(size > 0) || !std::isfinite(turning.sigma[n])) continue;
    ++count;
    const double turn = std::max(std::abs(one.angle[n]), std::abs(other.angle[n]));
    if (turn > clearly * turning.sigma[n] / size) sum += std::pow(of_other.off[n], 2) - std::pow(of_one.off[n], 2);
  }
  return sum * std::min(1.0, most_numbers / std::max(count, 1.0));
}

}  // namespace locus::doctor
