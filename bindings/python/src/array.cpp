// SPDX-License-Identifier: Apache-2.0
#include "array.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "dlpack.h"
#include "locus/error.h"

namespace locus::python {
namespace {

template <class... Parts>
[[noreturn]] void type_error(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  throw py::type_error(text.str());
}

constexpr std::string_view known_types = "float32, float64, float16 or (torch) bfloat16";

Array from_numpy(const py::array& object, std::string_view name) {
  Array array{.name = std::string(name), .shape = {}, .strides = {}, .owner = object};
  const py::dtype type = object.dtype();
  const py::ssize_t size = type.itemsize();
  if (type.kind() != 'f' || (size != 2 && size != 4 && size != 8)) {
    type_error(name, " must be ", known_types, ", got ", std::string(py::str(type.attr("name"))));
  }
  if (!type.attr("isnative").cast<bool>()) type_error(name, " must have this machine's byte order");
  require((object.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) != 0, name, " must be aligned to its elements");
  array.type = size == 2 ? ElementType::float16 : size == 4 ? ElementType::float32 : ElementType::float64;
  array.data = const_cast<void*>(object.data());
  array.writable = object.writeable();
  for (py::ssize_t i = 0; i < object.ndim(); ++i) {
    require(object.strides(i) % size == 0, name, " must have strides of whole elements");
    array.shape.push_back(object.shape(i));
    array.strides.push_back(object.strides(i) / size);
  }
  return array;
}

ElementType element_type(const DLDataType& type, std::string_view name) {
  constexpr std::uint8_t ieee = 2, bfloat = 4;
  if (type.lanes == 1 && type.code == ieee && type.bits == 32) return ElementType::float32;
  if (type.lanes == 1 && type.code == ieee && type.bits == 64) return ElementType::float64;
  if (type.lanes == 1 && type.code == ieee && type.bits == 16) return ElementType::float16;
  if (type.lanes == 1 && type.code == bfloat && type.bits == 16) return ElementType::bfloat16;
  type_error(name, " must be ", known_types, ", got another type");
}

// The capsule keeps ownership: its destructor frees the tensor together with `owner`.
Array from_dlpack(py::handle object, std::string_view name) {
  constexpr int cpu = 1;
  const auto device = object.attr("__dlpack_device__")().cast<std::pair<int, int>>();
  require(device.first == cpu, name, " must be in CPU memory");
  const bool needs_gradient = py::hasattr(object, "requires_grad") && object.attr("requires_grad").cast<bool>();
  require(!needs_gradient, name, " requires a gradient: use locus.torch, or detach() it");
  Array array{.name = std::string(name), .shape = {}, .strides = {}, .owner = object.attr("__dlpack__")()};
  void* pointer = PyCapsule_GetPointer(array.owner.ptr(), "dltensor");
  if (pointer == nullptr) throw py::error_already_set();
  const DLTensor& tensor = static_cast<const DLManagedTensor*>(pointer)->dl_tensor;
  array.type = element_type(tensor.dtype, name);
  array.writable = py::hasattr(object, "data_ptr");  // torch; arrays of others (JAX) are immutable
  array.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  array.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides != nullptr) {
    array.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  } else {
    array.strides.resize(array.shape.size());
    std::int64_t stride = 1;
    for (std::size_t i = array.shape.size(); i-- > 0; stride *= array.shape[i]) array.strides[i] = stride;
  }
  return array;
}

std::int64_t last_offset(const Array& array) {
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < array.shape.size(); ++i) offset += (array.shape[i] - 1) * array.strides[i];
  return offset;
}

bool is_empty(const Array& array) { return std::find(array.shape.begin(), array.shape.end(), 0) != array.shape.end(); }

// An axis that at least one of two arrays has.
struct Step {
  std::size_t axis;
  std::int64_t stride;
  std::int64_t a_extent, b_extent;
};

// Sorted by decreasing stride, without axes of one entry, whose strides have no meaning.
std::vector<Step> steps_of(const Array& a, const Array& b) {
  std::vector<Step> steps;
  for (std::size_t i = 0; i < a.shape.size(); ++i) {
    if (a.shape[i] <= 1 && b.shape[i] <= 1) continue;
    steps.push_back({i, a.shape[i] > 1 ? a.strides[i] : b.strides[i], a.shape[i], b.shape[i]});
  }
  std::sort(steps.begin(), steps.end(), [](const Step& x, const Step& y) { return x.stride > y.stride; });
  return steps;
}

void check_strides(const Array& array) {
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    require(array.shape[i] <= 1 || array.strides[i] >= 0, array.name, " must not have negative strides (dimension ", i,
            "); copy it first");
  }
  require(array.shape.back() <= 1 || array.strides.back() == 1, array.name,
          " must be contiguous in its last dimension, its stride is ", array.strides.back(), " elements");
}

// Each stride must exceed the span of all smaller ones.
void check_no_element_twice(const Array& array) {
  std::vector<Step> steps = steps_of(array, array);
  std::reverse(steps.begin(), steps.end());
  std::int64_t span = 0;
  for (const Step& step : steps) {
    require(step.stride > span, array.name, " contains some elements more than once (dimension ", step.axis,
            " has stride ", step.stride, "), so it cannot be changed in place; copy it first");
    span += (step.a_extent - 1) * step.stride;
  }
}

void check_writable(const Array& array) {
  require(array.writable, array.name, " is read-only");
  if (!is_empty(array)) check_no_element_twice(array);
}

// True if the sum of (i - j) stride over the steps can be `distance`, with i inside a and j inside b. Strides nest, so
// at most two choices are possible at each step.
bool can_differ_by(std::span<const Step> steps, std::int64_t distance) {
  if (steps.empty()) return distance == 0;
  const Step& step = steps.front();
  const std::int64_t near = step.stride == 0 ? 0 : distance / step.stride;
  for (std::int64_t count = near - 1; count <= near + 1; ++count) {
    const bool inside = count >= 1 - step.b_extent && count <= step.a_extent - 1;
    if (inside && can_differ_by(steps.subspan(1), distance - count * step.stride)) return true;
  }
  return false;
}

bool step_alike(const Array& a, const Array& b) {
  if (a.type != b.type || a.shape.size() != b.shape.size()) return false;
  for (std::size_t i = 0; i < a.shape.size(); ++i) {
    if (a.shape[i] > 1 && b.shape[i] > 1 && a.strides[i] != b.strides[i]) return false;
  }
  return true;
}

}  // namespace

Array array_of(py::handle object, std::string_view name) {
  if (py::isinstance<py::array>(object)) return from_numpy(py::reinterpret_borrow<py::array>(object), name);
  if (py::hasattr(object, "__dlpack__")) return from_dlpack(object, name);
  type_error(name, " must be a NumPy array or a tensor that supports DLPack, got ",
             std::string(py::str(py::type::handle_of(object).attr("__name__"))));
}

HeadsView heads_of(const Array& array, std::string_view axes, Access access) {
  constexpr std::string_view by_dimensions[] = {"td", "thd", "bthd"};
  if (axes.empty()) {
    require(array.shape.size() >= 2 && array.shape.size() <= 4, array.name,
            " must be [batch, tokens, heads, dim], [tokens, heads, dim] or [tokens, dim], got ", array.shape.size(),
            " dimensions");
    axes = by_dimensions[array.shape.size() - 2];
  }
  require(array.shape.size() == axes.size(), array.name, ": axes ", axes, " name ", axes.size(), " dimensions, it has ",
          array.shape.size());
  HeadsView view = heads_view(array.data, array.type, axes, array.shape);  // sets the extents; strides follow below
  check_strides(array);
  if (access == Access::write) check_writable(array);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (axes[i] == 'b') view.batch_stride = array.strides[i];
    if (axes[i] == 't') view.token_stride = array.strides[i];
    if (axes[i] == 'h') view.head_stride = array.strides[i];
  }
  return view;
}

HiddenView hidden_of(const Array& array) {
  const std::size_t dimensions = array.shape.size();
  require(dimensions == 2 || dimensions == 3, array.name, " must be [batch, tokens, dim] or [tokens, dim], got ",
          dimensions, " dimensions");
  check_strides(array);
  check_writable(array);
  HiddenView view{.data = array.data, .type = array.type};
  view.dim = array.shape.back();
  view.tokens = array.shape[dimensions - 2];
  view.token_stride = array.strides[dimensions - 2];
  if (dimensions == 3) {
    view.batch = array.shape[0];
    view.batch_stride = array.strides[0];
  }
  return view;
}

void check_apart(const Array& a, const Array& b) {
  if (is_empty(a) || is_empty(b)) return;
  const auto size = static_cast<std::int64_t>(size_of(a.type));
  const auto* a_begin = static_cast<const std::byte*>(a.data);
  const auto* b_begin = static_cast<const std::byte*>(b.data);
  const auto* a_end = a_begin + (last_offset(a) + 1) * size;
  const auto* b_end = b_begin + (last_offset(b) + 1) * static_cast<std::int64_t>(size_of(b.type));
  if (a_end <= b_begin || b_end <= a_begin) return;
  // Both are in one range of memory: only arrays with equal strides can be compared exactly.
  const bool apart =
      step_alike(a, b) && (b_begin - a_begin) % size == 0 && !can_differ_by(steps_of(a, b), (b_begin - a_begin) / size);
  require(apart, a.name, " and ", b.name, " overlap in memory");
}

PositionIds ids_of(const IdArray& ids) {
  require(ids.ndim() == 3, "position ids must be [axes, rows, tokens], got ", ids.ndim(), " dimensions");
  return {.axes = ids.shape(0),
          .batch = ids.shape(1),
          .tokens = ids.shape(2),
          .ids = std::vector<Position>(ids.data(), ids.data() + ids.size())};
}

std::vector<std::int64_t> integers_of(const py::array_t<std::int64_t, py::array::c_style>& values) {
  return {values.data(), values.data() + values.size()};
}

}  // namespace locus::python
