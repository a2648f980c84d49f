// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/ramp_fits.h"

#include <algorithm>
#include <cmath>

#include "locus/scaling.h"

namespace locus::doctor {
namespace {

struct Form {
  std::string rule;
  Arguments arguments;
  int complexity;
};

std::vector<Form> forms() {
  std::vector<Form> all = {{"llama3", {}, 3},
                           {"yarn", {}, 3},
                           {"yarn", {{"truncate", false}}, 4},
                           {"ntk_by_parts", {}, 4},
                           {"llama3", {{"low_freq_factor", 1.0}, {"high_freq_factor", 2.0}}, 6},
                           {"llama3", {{"low_freq_factor", 1.0}, {"high_freq_factor", 8.0}}, 6}};
  // Any other rule of the registry with a factor and an original length, with its defaults.
  for (const Rule* rule : rules()) {
    const bool fits = rule->trained_length == "original_length" && needs_factor_only(*rule);
    const bool has_form =
        std::any_of(all.begin(), all.end(), [&](const Form& form) { return form.rule == rule->name; });
    if (fits && !has_form) all.push_back({std::string(rule->name), {}, 5});
  }
  return all;
}

// Returns the divisor of the slowest pair that visibly turns, and common factors near it.
std::vector<double> factors_to_try(const TurnRates& rates, std::int64_t d, double base) {
  std::vector<double> factors = {2, 8, 32};
  for (std::size_t i = rates.w.size(); i-- > 0;) {
    if (rates.w[i] <= 8 * rates.sigma[i]) continue;
    const double ratio = std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(d)) / rates.w[i];
    if (ratio > 1.01 && ratio < 1e4) factors.insert(factors.begin(), ratio);
    break;
  }
  return factors;
}

// True if the base is possible: no rule makes a pair faster than the plain base does, or one of the fastest eighth much
// slower.
bool base_is_possible(const TurnRates& rates, std::int64_t d, double base) {
  for (std::size_t i = 1; i <= std::max<std::size_t>(rates.w.size() / 8, 1); ++i) {
    const double plain = std::pow(base, -2 * static_cast<double>(i) / static_cast<double>(d));
    const double slack = std::max(20 * frequency_tolerance(rates, i), 1e-3 * plain);
    if (rates.w[i] > plain + slack || rates.w[i] < 0.6 * plain - slack) return false;
  }
  return true;
}

void set_factor(RuleFit& fit, double factor) { fit.arguments.set("factor", factor); }

// Changes one parameter at a time, and halves the step if neither direction improves the fit.
void refine(RuleFit& fit, const TurnRates& rates, std::int64_t d) {
  double step = 0.2;
  for (int round = 0; round < 60 && step > 1e-7; ++round) {
    bool better = false;
    for (const bool move_base : {false, true}) {
      for (const double sign : {1.0, -1.0}) {
        RuleFit moved = fit;
        const double by = std::exp(sign * step);
        if (move_base) {
          moved.base *= by;
        } else {
          set_factor(moved, std::max(1.0, moved.arguments.real("factor") * by));
        }
        if (moved.base <= 1.5) continue;
        moved.misfit = misfit_of(moved, rates, d);
        if (moved.misfit < fit.misfit) {
          fit = std::move(moved);
          better = true;
        }
      }
    }
    if (!better) step /= 3;
  }
}

// Rounds values if the fit stays about as good: people choose round numbers.
void snap(RuleFit& fit, const TurnRates& rates, std::int64_t d) {
  RuleFit round = fit;
  const double factor = fit.arguments.real("factor");
  set_factor(round, std::max(1.0, std::round(factor)));
  const auto common = common_base(fit.base, 0.2);
  round.base = common.value_or(fit.base);
  const double allowed = std::max(1.3 * fit.misfit, 1.2);
  for (const bool with_base : {true, false}) {
    RuleFit tried = round;
    if (!with_base) tried.base = fit.base;
    tried.misfit = misfit_of(tried, rates, d);
    if (tried.misfit > allowed) continue;
    fit = std::move(tried);
    if (!with_base) ++fit.complexity;
    return;
  }
  round = fit;
  round.base = common.value_or(fit.base);
  round.misfit = misfit_of(round, rates, d);
  if (round.misfit <= allowed) fit = std::move(round);
  fit.complexity += 2;
}

// Returns how far ln(base) can move before the sum of squares grows by 1.
double base_sigma_of(const RuleFit& fit, const TurnRates& rates, std::int64_t d) {
  constexpr double step = 1e-3;
  RuleFit moved = fit;
  moved.base *= std::exp(step);
  const double misfit = misfit_of(moved, rates, d);
  const double growth = static_cast<double>(rates.w.size()) * (misfit * misfit - fit.misfit * fit.misfit);
  return growth <= 0 ? 0.02 : std::min(0.02, step / std::sqrt(growth));
}

}  // namespace

std::vector<RuleFit> fit_ramps(const TurnRates& rates, std::int64_t rotary_dim, const std::vector<double>& bases) {
  if (rotary_dim <= 4) return {};  // three unknowns, but only two frequencies
  std::vector<RuleFit> best;
  for (const Form& form : forms()) {
    std::vector<RuleFit> tried;
    Arguments arguments = form.arguments;
    arguments.set("factor", 1.0);
    arguments.set("original_length", std::int64_t{1});
    const RuleFit start = rule_at(form.rule, bases.front(), arguments);
    for (const double base : bases) {
      if (!base_is_possible(rates, rotary_dim, base)) continue;
      for (const double factor : factors_to_try(rates, rotary_dim, base)) {
        for (std::int64_t length = 256; length <= 262144; length *= 2) {
          RuleFit fit = start;
          fit.base = base;
          fit.complexity = form.complexity;
          fit.ramp = true;
          set_factor(fit, factor);
          fit.arguments.set("original_length", length);
          fit.misfit = misfit_of(fit, rates, rotary_dim);
          tried.push_back(std::move(fit));
        }
      }
    }
    const std::size_t kept = std::min<std::size_t>(6, tried.size());
    std::partial_sort(tried.begin(), tried.begin() + static_cast<std::ptrdiff_t>(kept), tried.end(),
                      [](const RuleFit& a, const RuleFit& b) { return a.misfit < b.misfit; });
    tried.resize(kept);
    for (RuleFit& fit : tried) {
      if (fit.misfit > 0.5) refine(fit, rates, rotary_dim);
      snap(fit, rates, rotary_dim);
      fit.base_sigma = base_sigma_of(fit, rates, rotary_dim);
    }
    // Sorts good fits by simplicity, the others by misfit.
    const auto order = [](const RuleFit& fit) { return std::pair(std::max(fit.misfit, 1.2), fit.complexity); };
    std::stable_sort(tried.begin(), tried.end(),
                     [&](const RuleFit& a, const RuleFit& b) { return order(a) < order(b); });
    best.insert(best.end(), tried.begin(), tried.begin() + std::min<std::ptrdiff_t>(3, std::ssize(tried)));
  }
  return best;
}

}  // namespace locus::doctor
