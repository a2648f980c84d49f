// SPDX-License-Identifier: Apache-2.0
// Values of parameters to and from Python, and the registry as Python sees it.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "locus/registry.h"
#include "locus/value.h"

namespace locus::python {

namespace py = pybind11;

/// The entry `name` of a dictionary; TypeError where it is of another type.
template <class T>
T entry(const py::dict& given, const char* name) {
  const py::object value = given[name];
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    throw py::type_error(std::string(name) + " cannot be " + std::string(py::repr(value)));
  }
}

/// None stands for absent. Values are brought to the parameter's kind where that loses nothing; whether they are
/// allowed is left to the library, whose messages name the rule.
Arguments arguments_of(const py::dict& given, std::span<const Parameter> parameters);
py::object to_python(const Value& value);
py::dict to_python(const Arguments& arguments);
py::list to_python(const std::vector<Parameter>& parameters);

}  // namespace locus::python
