// SPDX-License-Identifier: Apache-2.0
// Arrays of the caller, read in place: NumPy arrays directly, all others (torch) through DLPack.
//
// Checks arrays completely, with TypeError or ValueError, before any kernel writes.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "locus/add.h"
#include "locus/rotate.h"

namespace locus::python {

namespace py = pybind11;

/// Memory of the caller, kept alive by `owner`. Strides are in elements.
struct Array {
  std::string name;  ///< for messages
  void* data = nullptr;
  ElementType type = ElementType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  bool writable = true;
  py::object owner;
};

/// Accepts float32, float64, float16 or (DLPack) bfloat16 in CPU memory. TypeError: anything else.
Array array_of(py::handle object, std::string_view name);

enum class Access : std::uint8_t { read, write };

/// Axes are those of heads_view(); empty: bthd, thd or td by the number of dimensions.
/// ValueError: strides that kernels do not support and, with Access::write, read-only memory or shared elements.
HeadsView heads_of(const Array& array, std::string_view axes, Access access);

/// Accepts [batch, tokens, dim] or [tokens, dim], for writing.
HiddenView hidden_of(const Array& array);

/// ValueError: the two arrays may share an element. Separate slices of one fused QKV tensor are allowed.
void check_apart(const Array& a, const Array& b);

/// Ids [axes, rows, tokens] from Python.
using IdArray = py::array_t<Position, py::array::c_style>;
PositionIds ids_of(const IdArray& ids);
std::vector<std::int64_t> integers_of(const py::array_t<std::int64_t, py::array::c_style>& values);

/// Makes a NumPy array with these numbers.
template <class T>
py::array_t<T> numpy_of(const std::vector<T>& values, std::vector<py::ssize_t> shape) {
  py::array_t<T> result(std::move(shape));
  std::copy(values.begin(), values.end(), result.mutable_data());
  return result;
}

}  // namespace locus::python
