// SPDX-License-Identifier: Apache-2.0
// Finds the frequency rules, and their parameters, that give the measured frequencies.
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
  Arguments arguments = {};  ///< all arguments of the rule
  double scale = 1;          ///< measured frequency = scale * the rule's frequency
  double misfit = 0;         ///< RMS of the difference over its tolerance
  double base_sigma = 0;     ///< standard deviation of ln(base)
  int complexity = 0;        ///< number of fitted parameters; uncommon values count double
  bool free_frequencies = false;
  bool ramp = false;  ///< one of several fits of its rule
};

/// Returns a rule with its defaults filled in. Error: arguments that the rule does not take.
RuleFit rule_at(const std::string& rule, double base, const Arguments& arguments);

/// Returns the frequencies of a rule in float32 arithmetic (1e-7 relative). Cost: low enough to try thousands.
std::vector<double> rule_frequencies(const RuleFit& fit, std::int64_t rotary_dim);
/// Returns the exact frequencies of a rule.
std::vector<double> exact_rule_frequencies(const RuleFit& fit, std::int64_t rotary_dim);

/// Returns the attention factor of a rule.
double rule_magnitude(const RuleFit& fit, std::int64_t rotary_dim);

/// Chooses between the two: exact if angles at positions up to `far`, measured with noise `unit`, need it.
std::vector<double> rule_frequencies_for(const RuleFit& fit, std::int64_t rotary_dim, double far, double unit);

/// Returns all rules that fit, simplest first. The last is longrope, whose free divisors fit anything. `hint` is a base
/// to try in addition to the common ones.
std::vector<RuleFit> fit_rules(const TurnRates& rates, std::int64_t rotary_dim, bool whole_head,
                               std::optional<double> hint);

/// Returns the common base nearest to `base`. Absent if none is within `tolerance` of ln(base).
std::optional<double> common_base(double base, double tolerance);

}  // namespace locus::doctor
