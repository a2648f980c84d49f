// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/parameter_fault.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "doctor/diagnose/ramp_fits.h"
#include "doctor/diagnose/rule_fits.h"
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus::doctor {
namespace {

RuleFit expected_rule(const Expected& expected) {
  const Arguments& arguments = expected.encoding.arguments();
  RuleFit fit{.rule = arguments.text("rule"), .base = arguments.real("base"), .arguments = {}};
  for (const Parameter& parameter : find_rule(fit.rule).parameters) {
    if (const Value* value = arguments.find(parameter.name)) fit.arguments.set(parameter.name, *value);
  }
  return fit;
}

RuleFit with(RuleFit fit, const std::string& name, double value) {
  if (name == "base") {
    fit.base = value;
  } else {
    fit.arguments.set(name, value);
  }
  return fit;
}

// Uses only as many rows as the decision needs.
double misfit_at(const Turning& turning, const std::vector<double>& w, const std::vector<Position>& positions) {
  double sum = 0, count = 0;
  const std::int64_t stride = turning.rows / 40 + 1;
  for (std::int64_t row = 0; row < turning.rows; row += stride) {
    for (std::int64_t i = 0; i < turning.pairs; ++i) {
      const double sigma = turning.sigma_at(row, i) / std::max(std::abs(turning.at(row, i)), 1e-300);
      if (!std::isfinite(sigma)) continue;
      const double angle =
          w[static_cast<std::size_t>(i)] * static_cast<double>(positions[static_cast<std::size_t>(row)]);
      const double off = wrapped(std::arg(turning.at(row, i)) - angle) / std::hypot(sigma, 0x1p-23 * angle);
      sum += std::min(off * off, 400.0);
      ++count;
    }
  }
  return count == 0 ? 0 : std::sqrt(sum / count);
}

double lowest(const std::function<double(double)>& misfit, double value, double step) {
  double best = misfit(value);
  for (int round = 0; round < 60 && step > 1e-8; ++round) {
    bool better = false;
    for (const double sign : {1.0, -1.0}) {
      const double moved = value * std::exp(sign * step);
      const double there = misfit(moved);
      if (there >= best) continue;
      best = there;
      value = moved;
      better = true;
      break;
    }
    if (!better) step /= 2;
  }
  return value;
}

}  // namespace

std::optional<ParameterFault> fit_parameter(const Turning& turning, const Expected& expected,
                                            const std::optional<TurnRates>& rates, const std::string& name,
                                            double unit) {
  const Arguments& arguments = expected.encoding.arguments();
  if (!arguments.has(name) || !arguments.has("rule") || arguments.text("rule") == "longrope") return std::nullopt;
  const RuleFit rule = expected_rule(expected);
  const std::int64_t d = turning.slice.rotary_dim;
  double far = 0;
  for (const Position p : expected.positions) far = std::max(far, std::abs(static_cast<double>(p)));
  const double infinity = std::numeric_limits<double>::infinity();
  const auto guarded = [&](const auto& misfit) {
    return [&, misfit](double value) {
      try {
        return value < (name == "base" ? 1.01 : 1.0) ? infinity : misfit(with(rule, name, value));
      } catch (const Error&) {  // outside the range of the rule
        return infinity;
      }
    };
  };
  const std::function<double(double)> by_rates =
      guarded([&](const RuleFit& fit) { return rates ? misfit_of(fit, *rates, d) : 0.0; });
  const std::function<double(double)> by_angles = guarded([&](const RuleFit& fit) {
    return misfit_at(turning, rule_frequencies_for(fit, d, far, unit), expected.positions);
  });

  double value = arguments.real(name);
  const double from = name == "base" ? 2 : 1;
  const double to = name == "base" ? 1e10 : 1e3;
  const std::function<double(double)>& coarse = rates ? by_rates : by_angles;
  double best = infinity;
  for (double tried = from; tried < to; tried *= 1.05) {
    const double misfit = coarse(tried);
    if (misfit < best) {
      best = misfit;
      value = tried;
    }
  }
  if (rates) value = lowest(by_rates, value, 0.02);
  const double so_far = by_angles(value);  // already at the noise, or far from it: nothing to refine
  if (so_far > 0.7 && so_far < 300) value = lowest(by_angles, value, 1e-3);

  const double allowed = std::max(1.2 * by_angles(value), 1.0);
  const std::optional<double> nice =
      name == "base" ? common_base(value, 0.2) : std::optional<double>(std::max(1.0, std::round(4 * value) / 4));
  const bool common = nice && by_angles(*nice) <= allowed;
  if (common) value = *nice;
  if (!(by_angles(value) < infinity)) return std::nullopt;
  if (std::abs(std::log(value / arguments.real(name))) < 1e-6 || (name == "factor" && value < 1 + 1e-6)) {
    return std::nullopt;
  }
  const RuleFit found = with(rule, name, value);
  return ParameterFault{value, common, exact_rule_frequencies(found, d), rule_magnitude(found, d)};
}

}  // namespace locus::doctor
