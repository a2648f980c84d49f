// SPDX-License-Identifier: Apache-2.0
// With wavelength l = 2 pi / w, u = 1 / l and s = (old u - low) / (high - low), clamped to [0, 1]:
//   divisor = 1 / ((1 - s) / f + s)
// Between the bounds, s is linear in u: s = a u - b with a = old / (high - low) and b = low / (high - low). Two entries
// determine it.
#include "io/llama3_divisors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>

namespace locus::io {
namespace {

/// Returns one over the wavelength of frequency i.
double per_position(std::size_t i, double base, double rotary_dim) {
  return std::pow(base, -2 * static_cast<double>(i) / rotary_dim) / (2 * std::numbers::pi);
}

struct Line {
  double a = 0, b = 0;
};

/// Fits s = a u - b by least squares over the entries between the bounds. Absent for fewer than two.
std::optional<Line> ramp_of(std::span<const float> divisors, double base, double factor) {
  constexpr double clear_of_bounds = 1e-4;
  double count = 0, sum_u = 0, sum_s = 0, sum_uu = 0, sum_us = 0;
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    const double s = (1 / double{divisors[i]} - 1 / factor) / (1 - 1 / factor);
    if (s < clear_of_bounds || s > 1 - clear_of_bounds) continue;
    const double u = per_position(i, base, 2 * static_cast<double>(divisors.size()));
    count += 1;
    sum_u += u;
    sum_s += s;
    sum_uu += u * u;
    sum_us += u * s;
  }
  const double spread = count * sum_uu - sum_u * sum_u;
  if (count < 2 || !(spread > 0)) return std::nullopt;
  const double a = (count * sum_us - sum_u * sum_s) / spread;
  return Line{a, (a * sum_u - sum_s) / count};
}

double rounded_to(int digits, double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

bool makes(const Llama3Parameters& parameters, std::span<const float> divisors, double base) {
  constexpr double tolerance = 1e-5;
  const auto again = llama3_divisors(parameters, base, 2 * static_cast<std::int64_t>(divisors.size()));
  return std::equal(divisors.begin(), divisors.end(), again.begin(), [](float wanted, float got) {
    return std::abs(double{got} - double{wanted}) <= tolerance * double{wanted};
  });
}

}  // namespace

std::vector<float> llama3_divisors(const Llama3Parameters& parameters, double base, std::int64_t rotary_dim) {
  std::vector<float> divisors(static_cast<std::size_t>(rotary_dim / 2));
  const double low = parameters.low_freq_factor, high = parameters.high_freq_factor;
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    const double turns = parameters.original_length * per_position(i, base, static_cast<double>(rotary_dim));
    double s = turns > high ? 1 : 0;
    if (turns >= low && turns <= high && high > low) s = (turns - low) / (high - low);
    divisors[i] = static_cast<float>(1 / ((1 - s) / parameters.factor + s));
  }
  return divisors;
}

std::optional<Llama3Parameters> recover_llama3(std::span<const float> divisors, double base,
                                               std::optional<std::int64_t> original_length) {
  if (divisors.empty() || !(base > 1)) return std::nullopt;
  const double factor = double{*std::max_element(divisors.begin(), divisors.end())};
  if (!(factor > 1) || !std::isfinite(factor)) return std::nullopt;
  const auto line = ramp_of(divisors, base, factor);
  if (!line || !(line->a > 0) || !(line->b > 0)) return std::nullopt;
  const double original = original_length ? static_cast<double>(*original_length) : line->a / line->b;
  const double low = line->b * original / line->a, high = low + original / line->a;
  for (int digits = 1; digits <= 9; ++digits) {  // tries the simplest numbers first
    const Llama3Parameters simple{rounded_to(digits, factor), rounded_to(digits, low), rounded_to(digits, high),
                                  original_length ? original : std::round(rounded_to(digits, original))};
    if (simple.factor > 0 && makes(simple, divisors, base)) return simple;
  }
  return std::nullopt;
}

}  // namespace locus::io
