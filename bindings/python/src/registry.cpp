// SPDX-License-Identifier: Apache-2.0
// The registry as plain Python data, from which functions, signatures and docstrings are made.
#include "locus/registry.h"

#include <pybind11/stl.h>

#include "locus/encoding.h"
#include "locus/scaling.h"
#include "module.h"
#include "values.h"

namespace locus::python {
namespace {

py::list claim_names(const Claims& claims) {
  py::list names;
  for (const Claim claim : claims.all()) names.append(name_of(claim));
  return names;
}

py::list all_schemes() {
  py::list result;
  for (const Scheme* scheme : schemes()) {
    py::dict one;
    one["name"] = scheme->name;
    one["title"] = scheme->title;
    one["summary"] = scheme->summary;
    one["paper"] = scheme->paper;
    one["site"] = name_of(scheme->site);
    one["claims"] = claim_names(scheme->claims);
    one["parameters"] = to_python(scheme->parameters);
    one["takes_rule"] = scheme->parameters_for != nullptr;
    one["example"] = to_python(scheme->example);
    py::dict variants;
    for (const Example& variant : scheme->variants)
      variants[py::str(std::string(variant.label))] = to_python(variant.arguments);
    one["variants"] = variants;
    result.append(one);
  }
  return result;
}

py::list all_rules() {
  py::list result;
  for (const Rule* rule : rules()) {
    py::dict one;
    one["name"] = rule->name;
    one["title"] = rule->title;
    one["summary"] = rule->summary;
    one["paper"] = rule->paper;
    one["parameters"] = to_python(rule->parameters);
    one["example"] = to_python(rule->example);
    one["trained_length"] = rule->trained_length;
    one["hf_types"] = rule->hf_types;
    one["gguf_type"] = rule->gguf_type;
    one["length_dependent"] = rule->length_dependent;
    result.append(one);
  }
  return result;
}

// Includes the parameters of the rule, if one is named.
py::list parameters(std::string_view scheme, const std::optional<std::string>& rule) {
  Arguments given;
  if (rule) given.set("rule", *rule);
  return to_python(parameters_of(find_scheme(scheme), given));
}

py::dict check_rule(std::string_view name, const py::dict& given) {
  const Rule& rule = find_rule(name);
  return to_python(validate(name, rule.parameters, arguments_of(given, rule.parameters)));
}

}  // namespace

void bind_registry(py::module_& module) {
  module.def("schemes", &all_schemes);
  module.def("rules", &all_rules);
  module.def("parameters", &parameters, py::arg("scheme"), py::arg("rule") = py::none());
  module.def("check_rule", &check_rule, py::arg("name"), py::arg("given"));
}

}  // namespace locus::python
