// SPDX-License-Identifier: Apache-2.0
#include "locus/settings.h"

#include "locus/encoding.h"
#include "locus/error.h"

namespace locus {

Arguments parse_settings(const Scheme& scheme, std::span<const Setting> settings, const TensorReader& tensor_of) {
  Arguments arguments;
  for (const Setting& setting : settings) {  // the rule first: it adds parameters
    if (setting.name == "rule") arguments.set("rule", setting.text);
  }
  const std::vector<Parameter> parameters = parameters_of(scheme, arguments);
  Arguments parsed;
  for (const Setting& setting : settings) {
    require(!parsed.has(setting.name), scheme.name, ".", setting.name, " is given twice");
    const Parameter& parameter = find_parameter(scheme.name, parameters, setting.name);
    parsed.set(setting.name, parameter.kind == ValueKind::tensor ? Value(tensor_of(setting))
                                                                 : parse_value(scheme.name, parameter, setting.text));
  }
  return parsed;
}

}  // namespace locus
