// SPDX-License-Identifier: Apache-2.0
// Fits one parameter of the expected rule to the angles and keeps the others fixed.
#pragma once

#include <optional>
#include <string>

#include "doctor/diagnose/predictions.h"

namespace locus::doctor {

struct ParameterFault {
  double value = 0;
  bool common = false;    ///< a value that models use
  std::vector<double> w;  ///< frequencies with this value
  double magnitude = 1;   ///< attention factor with this value
};

/// Absent if the rule has no such parameter, or if no value fits better than the expected one.
std::optional<ParameterFault> fit_parameter(const Turning& turning, const Expected& expected,
                                            const std::optional<TurnRates>& rates, const std::string& name,
                                            double unit);

}  // namespace locus::doctor
