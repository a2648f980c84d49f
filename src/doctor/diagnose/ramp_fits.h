// SPDX-License-Identifier: Apache-2.0
// Fits rules that keep fast frequencies, divide slow ones and interpolate between: yarn, llama3, ntk_by_parts.
#pragma once

#include <vector>

#include "doctor/diagnose/rule_fits.h"

namespace locus::doctor {

/// Returns the allowed difference between a rule's frequency and the measured one: noise and two ulps of float32.
double frequency_tolerance(const TurnRates& rates, std::size_t pair);
double misfit_of(const RuleFit& fit, const TurnRates& rates, std::int64_t rotary_dim);

/// Returns the best fits of each rule, good or not. Trained lengths are powers of two; factor and base are refined.
std::vector<RuleFit> fit_ramps(const TurnRates& rates, std::int64_t rotary_dim, const std::vector<double>& bases);

}  // namespace locus::doctor
