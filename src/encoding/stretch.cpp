// SPDX-License-Identifier: Apache-2.0
#include "locus/stretch.h"

#include <algorithm>

#include "locus/error.h"
#include "locus/scaling.h"

namespace locus {
namespace {

bool has_parameter(std::span<const Parameter> parameters, std::string_view name) {
  return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& one) { return one.name == name; });
}

}  // namespace

bool takes_rules(const Encoding& encoding) { return has_parameter(encoding.scheme().parameters, "rule"); }

Encoding with_rule(const Encoding& encoding, std::string_view rule_name, const Stretch& stretch,
                   const Arguments& given) {
  const Scheme& scheme = encoding.scheme();
  require(takes_rules(encoding), "the rule ", rule_name, " needs a scheme that rotates (rope), got ", scheme.name);
  const Rule& rule = find_rule(rule_name);
  const bool same_rule = encoding.arguments().text("rule") == rule.name;
  Arguments arguments;
  for (const auto& [name, value] : encoding.arguments().all()) {
    // max_length belongs to the rule: for some it is the trained length, for others the extended one.
    if (same_rule || (has_parameter(scheme.parameters, name) && name != "max_length")) arguments.set(name, value);
  }
  arguments.set("rule", std::string(rule.name));
  for (const auto& [name, value] : given.all()) arguments.set(name, value);
  const auto fill = [&](std::string_view name, Value value) {
    if (has_parameter(rule.parameters, name) && !arguments.has(name)) arguments.set(name, std::move(value));
  };
  if (stretch.longest > 0) {
    const double factor = static_cast<double>(stretch.longest) / static_cast<double>(stretch.trained);
    fill("factor", std::max(1.0, factor));
  }
  if (!rule.trained_length.empty()) fill(rule.trained_length, stretch.trained);
  return Encoding(scheme.name, arguments);
}

}  // namespace locus
