// SPDX-License-Identifier: Apache-2.0
// Rotates and adds in the caller's memory, without the interpreter's lock.
#include <optional>
#include <utility>

#include "array.h"
#include "locus/add.h"
#include "locus/error.h"
#include "locus/polar.h"
#include "locus/rotate.h"
#include "locus/turn_output.h"
#include "module.h"

namespace locus::python {
namespace {

using Turn = std::pair<bool, Role>;  ///< true: rotates back; the role of the vectors

Direction direction_of(const Turn& turn) { return turn.first ? Direction::inverse : Direction::forward; }

void rotate_in_place(const Encoding& encoding, py::handle query, py::handle key, const IdArray& given,
                     std::string_view axes, const Turn& turn) {
  const Array q = array_of(query, key.is_none() ? "x" : "q");
  const HeadsView q_view = heads_of(q, axes, Access::write);
  const PositionIds ids = ids_of(given);
  const std::shared_ptr<Executor> threads = executor();
  if (key.is_none()) {
    const py::gil_scoped_release release;
    rotate(encoding, q_view, ids, turn.second, direction_of(turn), threads.get());
    return;
  }
  const Array k = array_of(key, "k");
  const HeadsView k_view = heads_of(k, axes, Access::write);
  check_apart(q, k);
  const py::gil_scoped_release release;
  rotate_query_key(encoding, q_view, k_view, ids, direction_of(turn), threads.get());
}

void rotate_into_other(const Encoding& encoding, py::handle from, py::handle to, const IdArray& given,
                       std::string_view axes, const Turn& turn) {
  const Array input = array_of(from, "x"), output = array_of(to, "output");
  const HeadsView input_view = heads_of(input, axes, Access::read);
  const HeadsView output_view = heads_of(output, axes, Access::write);
  check_apart(input, output);
  const PositionIds ids = ids_of(given);
  const std::shared_ptr<Executor> threads = executor();
  const py::gil_scoped_release release;
  rotate(encoding, {input_view, output_view}, ids, turn.second, direction_of(turn), threads.get());
}

void turn_back(const Encoding& encoding, py::handle given, const IdArray& queries, std::string_view axes) {
  const Array output = array_of(given, "output");
  const HeadsView view = heads_of(output, axes, Access::write);
  const PositionIds ids = ids_of(queries);
  const std::shared_ptr<Executor> threads = executor();
  const py::gil_scoped_release release;
  turn_output(encoding, view, ids, threads.get());
}

void make_polar(const Encoding& encoding, py::handle from, py::handle to, Role role, std::string_view axes) {
  const Array input = array_of(from, "x"), output = array_of(to, "output");
  const RotateViews views{heads_of(input, axes, Access::read), heads_of(output, axes, Access::write)};
  check_apart(input, output);
  const std::shared_ptr<Executor> threads = executor();
  const py::gil_scoped_release release;
  to_polar(encoding, views, role, threads.get());
}

void shift_keys(const Encoding& encoding, py::handle keys, const IdArray& given, std::string_view axes) {
  const Array k = array_of(keys, "k");
  const HeadsView view = heads_of(k, axes, Access::write);
  const PositionIds deltas = ids_of(given);
  const std::shared_ptr<Executor> threads = executor();
  const py::gil_scoped_release release;
  shift(encoding, view, deltas, Role::key, threads.get());
}

void add_rows(const Encoding& encoding, py::handle hidden, const IdArray& given) {
  const Array x = array_of(hidden, "x");
  const HiddenView view = hidden_of(x);
  const PositionIds ids = ids_of(given);
  const std::shared_ptr<Executor> threads = executor();
  const py::gil_scoped_release release;
  add(encoding, view, ids, threads.get());
}

// Checks an array with these axes and returns (batch, tokens).
std::pair<std::int64_t, std::int64_t> extents(py::handle object, std::string_view name, std::string_view axes) {
  const HeadsView view = heads_of(array_of(object, name), axes, Access::read);
  return {view.batch, view.tokens};
}

}  // namespace

void bind_kernels(py::module_& module) {
  py::enum_<Role>(module, "Role").value("query", Role::query).value("key", Role::key);
  module.def("rotate", &rotate_in_place, py::arg("encoding"), py::arg("q"), py::arg("k"), py::arg("ids"),
             py::arg("axes"), py::arg("turn"));
  module.def("rotate_into", &rotate_into_other, py::arg("encoding"), py::arg("x"), py::arg("output"), py::arg("ids"),
             py::arg("axes"), py::arg("turn"));
  module.def("turn_output", &turn_back, py::arg("encoding"), py::arg("output"), py::arg("ids"), py::arg("axes"));
  module.def("to_polar", &make_polar, py::arg("encoding"), py::arg("x"), py::arg("output"), py::arg("role"),
             py::arg("axes"));
  module.def("shift", &shift_keys, py::arg("encoding"), py::arg("k"), py::arg("deltas"), py::arg("axes"));
  module.def("add", &add_rows, py::arg("encoding"), py::arg("x"), py::arg("ids"));
  module.def("extents", &extents, py::arg("array"), py::arg("name"), py::arg("axes"));
  module.def("simd_target", &simd_target);
}

}  // namespace locus::python
