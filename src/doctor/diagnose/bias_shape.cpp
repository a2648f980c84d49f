// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/bias_shape.h"

#include <algorithm>
#include <cmath>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {
namespace {

// A mask leaves a wide gap: every entry is far below it or far above it. Biases that grow linearly leave no gap.
double mask_threshold(const std::vector<double>& bias) {
  double lowest = 0;
  for (const double value : bias) {
    if (std::isfinite(value)) lowest = std::min(lowest, value);
  }
  if (lowest > -9999) return -std::numeric_limits<double>::infinity();
  const bool gap = std::none_of(bias.begin(), bias.end(),
                                [&](double value) { return value > 0.5 * lowest && value < 0.1 * lowest; });
  return gap ? 0.5 * lowest : -std::numeric_limits<double>::infinity();
}

}  // namespace

BiasShape::BiasShape(const BiasDump& dump) : dump_(dump) {
  const double threshold = mask_threshold(dump.bias);
  std::vector<double> visible;
  for (const double value : dump.bias) {
    masked_.push_back(value <= threshold);
    if (!masked_.back()) visible.push_back(value);
  }
  storage_ = storage_of(visible);
  unit_ = storage_noise(storage_);
  const double seen = dump.queries > 1 ? std::min(step_noise(1), step_noise(0)) : bend_noise();
  if (seen <= loudest()) noise_ = seen;
}

// The largest standard deviation that counts as noise.
double BiasShape::loudest() const {
  double sum = 0, count = 0;
  for (std::size_t n = 0; n < dump_.bias.size(); ++n) {
    if (masked_[n]) continue;
    sum += dump_.bias[n] * dump_.bias[n];
    ++count;
  }
  return 1.5e-3 * std::max(1.0, count > 0 ? std::sqrt(sum / count) : 0);
}

void BiasShape::measure_noise(const std::vector<double>& explained) {
  if (dump_.queries > 1) return;
  std::vector<Step> steps;
  for (std::size_t n = 0; n < explained.size(); ++n) {
    if (!masked_[n]) steps.push_back({std::abs(explained[n]), std::abs(dump_.bias[n] - explained[n])});
  }
  const double seen = noise_in(std::move(steps));
  if (seen <= loudest() && (noise_ == 0 || seen < noise_)) noise_ = seen;
}

// Returns the standard deviation of normal noise behind these differences, rounding subtracted.
double BiasShape::noise_in(std::vector<Step> steps) const {
  // Small numbers have the smallest rounding errors, so they show noise best.
  constexpr std::size_t least = 64;
  const std::size_t count = std::min(steps.size(), std::max(least, steps.size() / 300));
  std::nth_element(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(count), steps.end(),
                   [](const Step& a, const Step& b) { return a.size < b.size; });
  steps.resize(count);
  std::vector<double> offs;
  for (const Step& one : steps) offs.push_back(std::max(0.0, one.off - 2 * unit_ * one.size));
  constexpr double share = 0.6, sigmas_within = 0.842;  // of a normal distribution
  return quantile(std::move(offs), share) / sigmas_within;
}

// Measures how far entries differ from those of the next query at the same offset (`key_step` 1) or key (0). A bias
// leaves these equal, so the difference is noise.
double BiasShape::step_noise(std::int64_t key_step) const {
  std::vector<Step> steps;
  for (std::int64_t h = 0; h < dump_.heads; ++h) {
    for (std::int64_t q = 0; q + 1 < dump_.queries; ++q) {
      for (std::int64_t k = 0; k + key_step < dump_.keys; ++k) {
        if (masked(h, q, k) || masked(h, q + 1, k + key_step)) continue;
        const double one = at(h, q, k), other = at(h, q + 1, k + key_step);
        steps.push_back(
            {std::abs(one + other) / 2, std::abs(one - other)});  // for noise, mean and difference are independent
      }
    }
  }
  return noise_in(std::move(steps)) / std::sqrt(2.0);
}

// Measures how far the middle of three keys of a single query is from the mean of the other two. If the bias is linear,
// this is noise.
double BiasShape::bend_noise() const {
  std::vector<Step> steps;
  for (std::int64_t h = 0; h < dump_.heads; ++h) {
    for (std::int64_t k = 1; k + 1 < dump_.keys; ++k) {
      if (masked(h, 0, k - 1) || masked(h, 0, k) || masked(h, 0, k + 1)) continue;
      const double one = at(h, 0, k - 1), middle = at(h, 0, k), other = at(h, 0, k + 1);
      steps.push_back({std::abs(one + middle + other) / 3, std::abs(one - 2 * middle + other) / 2});
    }
  }
  return noise_in(std::move(steps)) / std::sqrt(1.5);
}

std::int64_t BiasShape::masked_count() const { return std::count(masked_.begin(), masked_.end(), true); }

bool BiasShape::causal_mask() const {
  for (std::int64_t h = 0; h < dump_.heads; ++h) {
    for (std::int64_t q = 0; q < dump_.queries; ++q) {
      for (std::int64_t k = 0; k < dump_.keys; ++k) {
        if (masked(h, q, k) != (k > position(q))) return false;
      }
    }
  }
  return true;
}

bool BiasShape::equal(double a, double b) const {
  return std::abs(a - b) <= 4 * unit_ * std::max(std::abs(a), std::abs(b)) + slack() + 1e-30;
}

std::vector<std::optional<double>> BiasShape::by_offset(std::int64_t head) const {
  std::vector<std::optional<double>> values(static_cast<std::size_t>(2 * dump_.keys - 1));
  std::vector<double> counts(values.size(), 0);
  for (std::int64_t q = 0; q < dump_.queries; ++q) {
    for (std::int64_t k = 0; k < dump_.keys; ++k) {
      if (masked(head, q, k)) continue;
      const auto offset = static_cast<std::size_t>(k - position(q) + dump_.keys - 1);
      // Without noise they are equal; with noise, their mean is more precise.
      values[offset] = noise_ > 0 ? values[offset].value_or(0) + at(head, q, k) : at(head, q, k);
      ++counts[offset];
    }
  }
  for (std::size_t n = 0; n < values.size() && noise_ > 0; ++n) {
    if (values[n]) *values[n] /= counts[n];
  }
  return values;
}

std::vector<std::optional<double>> BiasShape::by_key(std::int64_t head) const {
  std::vector<std::optional<double>> values(static_cast<std::size_t>(dump_.keys));
  for (std::int64_t q = 0; q < dump_.queries; ++q) {
    for (std::int64_t k = 0; k < dump_.keys; ++k) {
      if (!masked(head, q, k)) values[static_cast<std::size_t>(k)] = at(head, q, k);
    }
  }
  return values;
}

bool BiasShape::toeplitz() const {
  for (std::int64_t h = 0; h < dump_.heads; ++h) {
    const auto values = by_offset(h);
    for (std::int64_t q = 0; q < dump_.queries; ++q) {
      for (std::int64_t k = 0; k < dump_.keys; ++k) {
        if (masked(h, q, k)) continue;
        if (!equal(at(h, q, k), *values[static_cast<std::size_t>(k - position(q) + dump_.keys - 1)])) return false;
      }
    }
  }
  return true;
}

bool BiasShape::key_only() const {
  for (std::int64_t h = 0; h < dump_.heads; ++h) {
    const auto values = by_key(h);
    for (std::int64_t q = 0; q < dump_.queries; ++q) {
      for (std::int64_t k = 0; k < dump_.keys; ++k) {
        if (!masked(h, q, k) && !equal(at(h, q, k), *values[static_cast<std::size_t>(k)])) return false;
      }
    }
  }
  return true;
}

std::optional<BiasLine> line_through(const BiasShape& shape, const std::vector<std::pair<double, double>>& points) {
  if (points.size() < 2) return std::nullopt;
  const auto [low, high] = std::minmax_element(points.begin(), points.end());
  if (low->first == high->first) return std::nullopt;
  double n = 0, x = 0, y = 0, xx = 0, xy = 0, size = 0;
  for (const auto& [at, value] : points) {
    ++n;
    x += at;
    y += value;
    xx += at * at;
    xy += at * value;
    size = std::max(size, std::abs(value));
  }
  const double slope = (n * xy - x * y) / (n * xx - x * x);
  BiasLine line{slope, (y - slope * x) / n};
  // A line through the origin stays one; its intercept is rounding.
  const double unit = storage_noise(shape.storage());
  if (std::abs(line.intercept) <= 4 * unit * size + shape.slack()) {
    line.intercept = 0;
    line.slope = xy / xx;
  }
  for (const auto& [at, value] : points) {
    if (std::abs(value - line.slope * at - line.intercept) > 4 * unit * size + shape.slack()) return std::nullopt;
  }
  return line;
}

}  // namespace locus::doctor
