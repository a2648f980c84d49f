// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/rule_fits.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "doctor/diagnose/ramp_fits.h"
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus::doctor {
namespace {

constexpr double fits_below = 2;  // noise alone gives an RMS of about 1
constexpr std::array bases{1e4, 5e5, 1e6, 1e5, 1.5e5, 2.5e5, 5e4, 1e7, 5e6, 8e6, 2e6, 1.6e5, 2e5, 1e3, 100.0};

// A straight line through ln w as a function of the pair index: ln w_i = intercept - slope i, weighted by precision.
struct Line {
  double intercept = 0;
  double slope = 0;
  double slope_sigma = 0;
  double intercept_sigma = 0;
};

std::optional<Line> log_line(const TurnRates& rates, std::size_t first_pairs, bool through_one) {
  double s = 0, si = 0, sii = 0, sy = 0, siy = 0;
  for (std::size_t i = 0; i < first_pairs; ++i) {
    if (rates.w[i] <= 6 * rates.sigma[i]) continue;
    const double y = std::log(rates.w[i]);
    const double sigma = frequency_tolerance(rates, i) / rates.w[i];
    const double weight = 1 / (sigma * sigma);
    const auto x = static_cast<double>(i);
    s += weight;
    si += weight * x;
    sii += weight * x * x;
    sy += weight * y;
    siy += weight * x * y;
  }
  if (through_one) {
    if (sii == 0) return std::nullopt;
    return Line{.intercept = 0, .slope = -siy / sii, .slope_sigma = 1 / std::sqrt(sii)};
  }
  const double determinant = s * sii - si * si;
  if (!(determinant > 1e-9 * s * sii)) return std::nullopt;
  return Line{.intercept = (sii * sy - si * siy) / determinant,
              .slope = -(s * siy - si * sy) / determinant,
              .slope_sigma = std::sqrt(s / determinant),
              .intercept_sigma = std::sqrt(sii / determinant)};
}

RuleFit with_line(const TurnRates& rates, std::int64_t d, const Line& line) {
  const double half = static_cast<double>(d) / 2;
  RuleFit fit{.rule = "none",
              .base = std::exp(line.slope * half),
              .arguments = {},
              .scale = std::exp(line.intercept),
              .base_sigma = line.slope_sigma * half,
              .complexity = line.intercept == 0 ? 1 : 3};
  if (const auto common = common_base(fit.base, std::max(4 * fit.base_sigma, 1e-5))) {
    RuleFit snapped = fit;
    snapped.base = *common;
    snapped.complexity -= 1;
    if (misfit_of(snapped, rates, d) < fits_below) return snapped;
  }
  return fit;
}

// Rounds a factor near a multiple of 1/4.
double snapped_factor(double factor, double sigma) {
  const double quarter = std::round(4 * factor) / 4;
  return quarter >= 1 && std::abs(quarter - factor) <= std::max(4 * sigma * factor, 1e-5 * factor) ? quarter : factor;
}

// A larger base equals the NTK rule on a smaller one; dynamic NTK is the same at a given length.
void add_ntk(std::vector<RuleFit>& fits_found, const RuleFit& plain, const TurnRates& rates, std::int64_t d,
             std::optional<double> hint) {
  if (d <= 2 || plain.scale != 1) return;
  std::vector<double> from = {1e4, 5e5, 1e6};
  if (hint) from.insert(from.begin(), *hint);
  const double width = static_cast<double>(d);
  // Any smaller base would do too; factor 2 represents the others.
  if (!common_base(plain.base, 1e-9)) from.push_back(plain.base / std::pow(3.0, width / (width - 2)));
  for (const double base : from) {
    if (plain.base < base * 1.01) continue;
    const double share = (width - 2) / width;
    const double a = snapped_factor(std::pow(plain.base / base, share), plain.base_sigma * share);
    RuleFit ntk = rule_at("ntk", base, {{"factor", a}});
    ntk.base_sigma = plain.base_sigma;
    ntk.complexity = 4 * a == std::round(4 * a) && a <= 64 ? 2 : 4;
    ntk.misfit = misfit_of(ntk, rates, d);
    if (ntk.misfit < fits_below) fits_found.push_back(ntk);
    // Any stretch is dynamic NTK at some length: at twice the trained length it is factor + 1.
    if (a < 2) continue;
    RuleFit dynamic = rule_at("dynamic_ntk", base,
                              {{"factor", a - 1}, {"max_length", std::int64_t{4096}}, {"length", std::int64_t{8192}}});
    dynamic.base_sigma = plain.base_sigma;
    dynamic.complexity = 5;
    dynamic.misfit = misfit_of(dynamic, rates, d);
    if (dynamic.misfit < fits_below) fits_found.push_back(dynamic);
  }
}

void add_geometric(std::vector<RuleFit>& found, const TurnRates& rates, std::int64_t d, std::optional<double> hint) {
  const std::size_t pairs = rates.w.size();
  bool plain_fits = false;
  if (const auto line = log_line(rates, pairs, true)) {
    RuleFit plain = with_line(rates, d, *line);
    plain.misfit = misfit_of(plain, rates, d);
    if (plain.misfit < fits_below) {
      plain_fits = true;
      found.push_back(plain);
      add_ntk(found, plain, rates, d, hint);
    }
  }
  const auto line = log_line(rates, pairs, false);
  if (!line || (plain_fits && std::abs(line->intercept) < 5 * line->intercept_sigma)) return;
  RuleFit scaled = with_line(rates, d, *line);
  const double inverse = 1 / scaled.scale;
  scaled.scale = inverse > 1 ? 1 / snapped_factor(inverse, line->intercept_sigma)
                             : snapped_factor(scaled.scale, line->intercept_sigma);
  scaled.misfit = misfit_of(scaled, rates, d);
  if (scaled.misfit < fits_below) found.push_back(scaled);
}

// Trailing pairs do not turn, although the frequencies of the others predict that they would.
void add_proportional(std::vector<RuleFit>& found, const TurnRates& rates, std::int64_t d) {
  std::size_t turning = rates.w.size();
  while (turning > 0 && std::abs(rates.w[turning - 1]) <= 5 * rates.sigma[turning - 1]) --turning;
  if (turning < 2 || turning == rates.w.size()) return;
  for (const bool through_one : {true, false}) {
    const auto line = log_line(rates, turning, through_one);
    if (!line) return;
    RuleFit fit = with_line(rates, d, *line);
    if (!through_one && fit.scale > 1 - 4 * line->intercept_sigma) return;
    // The number of turning pairs is uncertain: between the last that visibly turns and the first that would have.
    const double fraction = static_cast<double>(turning) / static_cast<double>(rates.w.size());
    const double factor = through_one ? 1.0 : snapped_factor(1 / fit.scale, line->intercept_sigma);
    RuleFit proportional =
        rule_at("proportional", fit.base, {{"rotary_fraction", fraction}, {"factor", std::max(1.0, factor)}});
    proportional.base_sigma = fit.base_sigma;
    proportional.complexity = through_one ? 2 : 3;
    const auto common = common_base(fit.base, std::max(4 * fit.base_sigma, 1e-5));
    for (const double base : {common.value_or(fit.base), fit.base}) {
      proportional.base = base;
      proportional.misfit = misfit_of(proportional, rates, d);
      if (proportional.misfit >= fits_below) continue;
      found.push_back(proportional);
      return;
    }
  }
}

// Returns common bases, and the base of the fastest pairs, which every rule with a ramp keeps.
std::vector<double> bases_to_try(const TurnRates& rates, std::int64_t d, std::optional<double> hint) {
  std::vector<double> tried(bases.begin(), bases.end());
  if (hint) tried.insert(tried.begin(), *hint);
  for (const std::size_t pairs : {std::size_t{4}, rates.w.size() / 4}) {
    const auto line = log_line(rates, std::min(rates.w.size(), pairs), true);
    if (!line) continue;
    const double base = std::exp(line->slope * static_cast<double>(d) / 2);
    if (std::isfinite(base) && base > 1.5 && base < 1e12) tried.push_back(base);
  }
  return tried;
}

// A ramp that starts after the slowest pair has no effect.
bool changes_anything(const RuleFit& fit, std::int64_t d) {
  const std::vector<double> ruled = rule_frequencies(fit, d);
  for (std::size_t i = 0; i < ruled.size(); ++i) {
    const double plain = std::pow(fit.base, -2 * static_cast<double>(i) / static_cast<double>(d));
    if (std::abs(ruled[i] - plain) > 1e-5 * plain) return true;
  }
  return false;
}

RuleFit free_divisors(const TurnRates& rates, std::int64_t d, std::optional<double> hint) {
  const double base = hint.value_or(1e4);
  std::vector<double> divisors;
  for (std::size_t i = 0; i < rates.w.size(); ++i) {
    const double plain = std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(d));
    // A pair that turns less than the noise may have any slow frequency; a large divisor is one.
    divisors.push_back(std::clamp(plain / std::max(rates.w[i], 1e-12), 1e-6, 1e6));
  }
  RuleFit fit = rule_at("longrope", base,
                        {{"short_factor", divisors},
                         {"long_factor", divisors},
                         {"original_length", std::int64_t{4096}},
                         {"attention_factor", 1.0}});
  fit.complexity = 100;
  fit.free_frequencies = true;
  return fit;
}

template <class Real>
std::vector<double> frequencies_by(Frequencies<Real> (*rule)(const RuleContext&, const Arguments&), const RuleFit& fit,
                                   std::int64_t rotary_dim) {
  const RuleContext context{.rotary_dim = rotary_dim, .base = fit.base};
  std::vector<double> w;
  for (const Real one : rule(context, fit.arguments).inv_freq) w.push_back(fit.scale * static_cast<double>(one));
  return w;
}

}  // namespace

RuleFit rule_at(const std::string& rule, double base, const Arguments& arguments) {
  return {.rule = rule, .base = base, .arguments = validate("rope", find_rule(rule).parameters, arguments)};
}

std::optional<double> common_base(double base, double tolerance) {
  std::optional<double> nearest;
  for (const double one : bases) {
    const double distance = std::abs(std::log(one / base));
    if (distance > tolerance) continue;
    if (!nearest || distance < std::abs(std::log(*nearest / base))) nearest = one;
  }
  return nearest;
}

double frequency_tolerance(const TurnRates& rates, std::size_t pair) {
  const double ulps = 0x1p-22 * rates.w[pair];
  return std::sqrt(rates.sigma[pair] * rates.sigma[pair] + ulps * ulps);
}

double misfit_of(const RuleFit& fit, const TurnRates& rates, std::int64_t rotary_dim) {
  const std::vector<double> w = rule_frequencies(fit, rotary_dim);
  double sum = 0;
  for (std::size_t i = 0; i < w.size(); ++i) {
    const double off = (rates.w[i] - w[i]) / frequency_tolerance(rates, i);
    sum += off * off;
  }
  return std::sqrt(sum / static_cast<double>(w.size()));
}

std::vector<double> rule_frequencies(const RuleFit& fit, std::int64_t rotary_dim) {
  return frequencies_by(find_rule(fit.rule).single, fit, rotary_dim);
}

std::vector<double> rule_frequencies_for(const RuleFit& fit, std::int64_t rotary_dim, double far, double unit) {
  return far * 0x1p-23 < 0.05 * unit ? rule_frequencies(fit, rotary_dim) : exact_rule_frequencies(fit, rotary_dim);
}

double rule_magnitude(const RuleFit& fit, std::int64_t rotary_dim) {
  const RuleContext context{.rotary_dim = rotary_dim, .base = fit.base};
  return find_rule(fit.rule).exact(context, fit.arguments).attention_factor;
}

std::vector<double> exact_rule_frequencies(const RuleFit& fit, std::int64_t rotary_dim) {
  return frequencies_by(find_rule(fit.rule).exact, fit, rotary_dim);
}

std::vector<RuleFit> fit_rules(const TurnRates& rates, std::int64_t rotary_dim, bool whole_head,
                               std::optional<double> hint) {
  std::vector<RuleFit> found;
  add_geometric(found, rates, rotary_dim, hint);
  if (whole_head) add_proportional(found, rates, rotary_dim);
  for (RuleFit& fit : fit_ramps(rates, rotary_dim, bases_to_try(rates, rotary_dim, hint))) {
    // If the plain base fits, a ramp beyond what the dump can show is possible, but claims more than was measured.
    if (!found.empty() && found.front().rule == "none") fit.complexity += 3;
    if (fit.misfit < fits_below && changes_anything(fit, rotary_dim)) found.push_back(std::move(fit));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const RuleFit& a, const RuleFit& b) { return a.complexity < b.complexity; });
  found.push_back(free_divisors(rates, rotary_dim, hint));
  return found;
}

}  // namespace locus::doctor
