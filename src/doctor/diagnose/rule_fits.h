// SPDX-License-Identifier: Apache-2.0
// Which frequency rules, with which parameters, give the frequencies that were measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/diagnose/turn_rates.h"
#include "locus/value.h"

namespace locus::doctor {

struct RuleFit {
  std::string rule;
  double base = 10000;
  Arguments arguments = {};  ///< the rule's own, all of them
  double scale = 1;          ///< measured frequencies = scale * rule's
  double misfit = 0;         ///< RMS of the difference over its tolerance
  double base_sigma = 0;     ///< standard deviation of ln(base)
  int complexity = 0;        ///< parameters that were fitted, uncommon values counted double
  bool free_frequencies = false;
  bool ramp = false;  ///< one of several fits of its rule
};

/// A rule with its defaults filled in; Error for arguments that it does not take.
RuleFit rule_at(const std::string& rule, double base, const Arguments& arguments);

/// The frequencies of a rule as float32 arithmetic has them (1e-7 relative), fast enough to try thousands.
std::vector<double> rule_frequencies(const RuleFit& fit, std::int64_t rotary_dim);
/// The same, exact.
std::vector<double> exact_rule_frequencies(const RuleFit& fit, std::int64_t rotary_dim);

/// The attention factor of a rule.
double rule_magnitude(const RuleFit& fit, std::int64_t rotary_dim);

/// Whichever of the two is good enough for angles at positions up to `far`, seen with noise `unit`.
std::vector<double> rule_frequencies_for(const RuleFit& fit, std::int64_t rotary_dim, double far, double unit);

/// All rules that fit, simplest first; the last is longrope, whose free divisors fit anything. `hint` is a base worth
/// trying beside the common ones.
std::vector<RuleFit> fit_rules(const TurnRates& rates, std::int64_t rotary_dim, bool whole_head,
                               std::optional<double> hint);

/// The base nearest to `base` of those that models use; absent where none is within `tolerance` of ln(base).
std::optional<double> common_base(double base, double tolerance);

}  // namespace locus::doctor
