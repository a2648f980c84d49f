// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/noise.h"

#include <algorithm>
#include <cmath>

namespace locus::doctor {
namespace {

// Three tenths of normal deviations are within 0.385 standard deviations, so up to half of the deviations may be
// outliers.
constexpr double share = 0.3;
constexpr double sigmas_within = 0.385;

struct Part {
  double size, off;
};

Part middle(const std::vector<Deviation>& sorted, std::size_t from, std::size_t to) {
  std::vector<double> sizes, offs;
  for (std::size_t n = from; n < to; ++n) {
    sizes.push_back(sorted[n].size);
    offs.push_back(std::abs(sorted[n].off));
  }
  return {median(std::move(sizes)), quantile(std::move(offs), share) / sigmas_within};
}

}  // namespace

double Noise::at(double size) const { return std::hypot(absolute, relative * size); }

double quantile(std::vector<double> values, double at) {
  if (values.empty()) return 0;
  const auto index = static_cast<std::ptrdiff_t>(at * static_cast<double>(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), values.begin() + index, values.end());
  return values[static_cast<std::size_t>(index)];
}

double median(std::vector<double> values) { return quantile(std::move(values), 0.5); }

double densest(std::vector<double> values) {
  if (values.size() < 4) return median(std::move(values));
  std::sort(values.begin(), values.end());
  const std::size_t width =
      std::max<std::size_t>(2, static_cast<std::size_t>(share * static_cast<double>(values.size())));
  std::size_t best = 0;
  for (std::size_t n = 0; n + width < values.size(); ++n) {
    if (values[n + width] - values[n] < values[best + width] - values[best]) best = n;
  }
  // The median of the values nearby: as precise as a median without outliers.
  const double middle = values[best + width / 2];
  const double near = 4 * (values[best + width] - values[best]) + 1e-300;
  std::vector<double> close;
  for (const double value : values) {
    if (std::abs(value - middle) <= near) close.push_back(value);
  }
  return median(std::move(close));
}

Noise measured_noise(std::vector<Deviation> deviations, double floor) {
  if (deviations.empty()) return {.absolute = 0, .relative = floor};
  std::sort(deviations.begin(), deviations.end(),
            [](const Deviation& a, const Deviation& b) { return a.size < b.size; });
  const std::size_t count = deviations.size();
  const Part all = middle(deviations, 0, count);
  Noise noise{.absolute = 0, .relative = all.size > 0 ? all.off / all.size : 0};
  if (count >= 24) {
    const Part small = middle(deviations, 0, count / 3);
    const Part large = middle(deviations, count - count / 3, count);
    const double spread = large.size * large.size - small.size * small.size;
    if (spread > 0.2 * small.size * small.size) {
      const double slope = std::max(0.0, (large.off * large.off - small.off * small.off) / spread);
      const double rest = small.off * small.off - slope * small.size * small.size;
      if (rest > 0) noise = {.absolute = std::sqrt(rest), .relative = std::sqrt(slope)};
    }
  }
  noise.relative = std::max(noise.relative, floor);
  return noise;
}

}  // namespace locus::doctor
