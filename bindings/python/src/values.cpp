// SPDX-License-Identifier: Apache-2.0
#include "values.h"

#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>

#include "array.h"

namespace locus::python {
namespace {

std::string_view kind_name(ValueKind kind) {
  constexpr std::string_view names[] = {"boolean", "integer", "real", "choice", "list", "tensor"};
  return names[static_cast<std::size_t>(kind)];
}

bool is_boolean(py::handle object) {
  return PyBool_Check(object.ptr()) != 0 ||
         py::str(py::type::handle_of(object).attr("__name__")).equal(py::str("bool_"));
}

using CastDoubles = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;

template <class Numbers>
Numbers numbers_of(py::handle object, std::string_view name) {
  py::object source = py::reinterpret_borrow<py::object>(object);
  if (py::hasattr(source, "detach")) source = source.attr("detach")();  // a torch parameter
  Numbers numbers = Numbers::ensure(source);
  if (!numbers) {
    PyErr_Clear();
    throw py::type_error(std::string(name) + " must be numbers, got " + std::string(py::str(object)));
  }
  return numbers;
}

Tensor tensor_of(py::handle object, std::string_view name) {
  const auto numbers = numbers_of<Floats>(object, name);
  Tensor tensor{.shape = {}, .data = std::vector<float>(numbers.data(), numbers.data() + numbers.size())};
  tensor.shape.assign(numbers.shape(), numbers.shape() + numbers.ndim());
  return tensor;
}

// Tries numbers before text: a NumPy scalar has an index or a float.
Value scalar_of(py::handle object, std::string_view name) {
  if (is_boolean(object)) return object.cast<bool>();
  if (PyIndex_Check(object.ptr()) != 0) {
    const auto integer = py::reinterpret_steal<py::object>(PyNumber_Index(object.ptr()));
    if (!integer) throw py::error_already_set();
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (overflow != 0) return integer.cast<double>();
    return static_cast<std::int64_t>(value);
  }
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Float(object.ptr()));
  if (!number) {
    PyErr_Clear();
    throw py::type_error(std::string(name) + " cannot be " +
                         std::string(py::str(py::type::handle_of(object).attr("__name__"))));
  }
  return number.cast<double>();
}

Value value_of(py::handle object, const Parameter& parameter) {
  if (py::isinstance<py::str>(object)) return object.cast<std::string>();
  if (parameter.kind == ValueKind::tensor) return tensor_of(object, parameter.name);
  if (parameter.kind == ValueKind::list && py::hasattr(object, "__len__")) {
    const auto numbers = numbers_of<CastDoubles>(object, parameter.name);
    return std::vector<double>(numbers.data(), numbers.data() + numbers.size());
  }
  return scalar_of(object, parameter.name);
}

}  // namespace

Arguments arguments_of(const py::dict& given, std::span<const Parameter> parameters) {
  Arguments arguments;
  for (const auto& [key, object] : given) {
    if (object.is_none()) continue;
    const auto name = key.cast<std::string>();
    const auto parameter =
        std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& one) { return one.name == name; });
    arguments.set(name, parameter == parameters.end() ? scalar_of(object, name) : value_of(object, *parameter));
  }
  return arguments;
}

py::object to_python(const Value& value) {
  if (const auto* tensor = std::get_if<Tensor>(&value)) {
    return numpy_of(tensor->data, std::vector<py::ssize_t>(tensor->shape.begin(), tensor->shape.end()));
  }
  return std::visit(
      [](const auto& plain) -> py::object {
        if constexpr (std::is_same_v<std::decay_t<decltype(plain)>, Tensor>) {
          return py::none();
        } else {
          return py::cast(plain);
        }
      },
      value);
}

py::dict to_python(const Arguments& arguments) {
  py::dict result;
  for (const auto& [name, value] : arguments.all()) result[py::str(name)] = to_python(value);
  return result;
}

py::list to_python(const std::vector<Parameter>& parameters) {
  py::list result;
  for (const Parameter& parameter : parameters) {
    py::dict one;
    one["name"] = parameter.name;
    one["kind"] = kind_name(parameter.kind);
    one["meaning"] = parameter.meaning;
    one["default"] = parameter.fallback ? to_python(*parameter.fallback) : py::none();
    one["required"] = parameter.required;
    one["least"] = std::isfinite(parameter.least) ? py::cast(parameter.least) : py::none();
    one["most"] = std::isfinite(parameter.most) ? py::cast(parameter.most) : py::none();
    one["above_least"] = parameter.above_least;
    one["choices"] = parameter.choices;
    result.append(one);
  }
  return result;
}

}  // namespace locus::python
