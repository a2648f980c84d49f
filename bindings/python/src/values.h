// SPDX-License-Identifier: Apache-2.0
// Converts parameter values to and from Python.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "locus/registry.h"
#include "locus/value.h"

namespace locus::python {

namespace py = pybind11;

/// Returns the entry `name` of a dictionary. TypeError: another type.
template <class T>
T entry(const py::dict& given, const char* name) {
  const py::object value = given[name];
  try {
    return value.cast<T>();
  } catch (const py::cast_error&) {
    throw py::type_error(std::string(name) + " cannot be " + std::string(py::repr(value)));
  }
}

/// None means absent. Converts values to the parameter's type if that loses nothing. The library checks whether they
/// are allowed, since its messages name the rule.
Arguments arguments_of(const py::dict& given, std::span<const Parameter> parameters);
py::object to_python(const Value& value);
py::dict to_python(const Arguments& arguments);
py::list to_python(const std::vector<Parameter>& parameters);

}  // namespace locus::python
