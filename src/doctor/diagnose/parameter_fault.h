// SPDX-License-Identifier: Apache-2.0
// One parameter of the expected rule, fitted to the angles with all others held.
#pragma once

#include <optional>
#include <string>

#include "doctor/diagnose/predictions.h"

namespace locus::doctor {

struct ParameterFault {
  double value = 0;
  bool common = false;    ///< a value that models use
  std::vector<double> w;  ///< frequencies with it
  double magnitude = 1;   ///< attention factor with it
};

/// Absent where the rule has no such parameter, or where no value fits better than the expected one.
std::optional<ParameterFault> fit_parameter(const Turning& turning, const Expected& expected,
                                            const std::optional<TurnRates>& rates, const std::string& name,
                                            double unit);

}  // namespace locus::doctor
