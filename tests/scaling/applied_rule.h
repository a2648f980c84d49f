// SPDX-License-Identifier: Apache-2.0
// A rule of the registry, applied after validation.
#pragma once

#include <string_view>

#include "locus/scaling.h"

namespace locus::testing {

inline Frequencies<DoubleDouble> apply(std::string_view rule_name, const RuleContext& context, const Arguments& given) {
  const Rule& rule = find_rule(rule_name);
  return rule.exact(context, validate("rope", rule.parameters, given));
}

}  // namespace locus::testing
