// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/alibi_slopes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

#include "locus/encoding.h"

namespace locus::doctor {
namespace {

std::vector<double> right_slopes(std::int64_t heads, double bias_max) {
  return Encoding("alibi", {{"heads", heads}, {"bias_max", bias_max}}).score().slopes;
}

// Returns 2^(-8 (h + 1) / steps) for each head h. Right only if the number of heads is a power of two.
std::vector<double> one_series(std::size_t heads, double steps) {
  std::vector<double> slopes;
  for (std::size_t h = 0; h < heads; ++h) slopes.push_back(std::exp2(-8 * static_cast<double>(h + 1) / steps));
  return slopes;
}

bool alike(const std::vector<double>& a, const std::vector<double>& b, double scale, const SlopeError& error) {
  for (std::size_t h = 0; h < a.size(); ++h) {
    if (std::abs(a[h] - scale * b[h]) > error.relative * std::abs(scale * b[h]) + error.absolute) return false;
  }
  return true;
}

std::string number(double value) {
  std::ostringstream text;
  text.precision(6);
  text << value;
  return text.str();
}

}  // namespace

std::vector<SlopeOrder> name_slopes(const std::vector<double>& slopes, const SlopeError& error) {
  const std::size_t heads = slopes.size();
  const std::vector<double> right = right_slopes(static_cast<std::int64_t>(heads), 8);
  std::vector<double> reversed(right.rbegin(), right.rend());
  std::vector<double> sorted = right;
  std::sort(sorted.rbegin(), sorted.rend());
  const auto above = static_cast<double>(std::bit_ceil(heads));
  struct Known {
    const char* name;
    const char* text;
    std::vector<double> slopes;
  };
  const std::vector<Known> orders = {
      {"alibi", "ALiBi's slopes", right},
      {"alibi_slopes_reversed", "ALiBi's slopes in reverse order of heads", reversed},
      {"alibi_slopes_sorted", "ALiBi's slopes sorted from steep to flat", sorted},
      {"alibi_slopes_next_power", "the first slopes of the next larger power of two", one_series(heads, above)},
      {"alibi_slopes_one_series", "one geometric series over all heads, although their number is not a power of two",
       one_series(heads, static_cast<double>(heads))}};
  std::vector<SlopeOrder> found;
  for (const double sign : {1.0, -1.0}) {
    for (const Known& known : orders) {
      const bool twin = found.size() == 1 && found.front().name == "alibi" && known.slopes == right;
      if (twin || !alike(slopes, known.slopes, sign, error)) continue;
      if (sign > 0) found.push_back({known.name, known.text});
      if (sign < 0) return {{"alibi_sign", std::string(known.text) + ", but the score grows with distance"}};
    }
  }
  if (!found.empty() || heads < 2) return found;
  const double scale = slopes[0] / right[0];
  if (scale != 0 && alike(slopes, right, scale, {2 * error.relative, 2 * error.absolute})) {
    return {{"alibi_scaled", "ALiBi's slopes times " + number(scale) + " (a softmax scale?)"}};
  }
  // slope_0 / slope_1 is 2^(bias_max / n), so it shows a different bias_max.
  const auto n = static_cast<double>(std::bit_floor(heads));
  const double bias_max = n * std::log2(slopes[0] / slopes[1]);
  if (std::isfinite(bias_max) && bias_max > 0 && bias_max < 1000) {
    const double whole = std::round(bias_max);
    if (whole >= 1 && alike(slopes, right_slopes(static_cast<std::int64_t>(heads), whole), 1, error)) {
      return {{"alibi_bias_max", "ALiBi's slopes for bias_max " + number(whole)}};
    }
  }
  return found;
}

}  // namespace locus::doctor
