// SPDX-License-Identifier: Apache-2.0
// The encoding: its arguments, and its numbers as NumPy arrays.
#include "locus/encoding.h"

#include <pybind11/stl.h>

#include "array.h"
#include "locus/bias.h"
#include "locus/error.h"
#include "locus/rows.h"
#include "module.h"
#include "values.h"

namespace locus::python {
namespace {

Encoding make_encoding(std::string_view scheme, const py::dict& given) {
  const Scheme& found = find_scheme(scheme);
  Arguments rule;
  if (given.contains("rule") && py::isinstance<py::str>(given["rule"])) {
    rule.set("rule", given["rule"].cast<std::string>());
  }
  return Encoding(scheme, arguments_of(given, parameters_of(found, rule)));
}

py::list claim_names(const Encoding& encoding) {
  py::list names;
  for (const Claim claim : encoding.claims().all()) names.append(name_of(claim));
  return names;
}

// [tokens, pairs] of cos and of sin; `ids` are [axes, 1, tokens].
template <class Real>
py::tuple rotation_table(const Encoding& encoding, const IdArray& given, Role role) {
  const Rotation& rotation = encoding.rotation();
  const PositionIds ids = ids_of(given);
  require(ids.axes == rotation.axes && ids.batch == 1, "this encoding needs ", rotation.axes,
          " axes of positions and one row of them, got ", ids.axes, " axes and ", ids.batch, " rows");
  encoding.check_positions(ids.ids);
  const std::int64_t pairs = rotation.pairs();
  py::array_t<Real> cos({ids.tokens, pairs}), sin({ids.tokens, pairs});
  Real* c = cos.mutable_data();
  Real* s = sin.mutable_data();
  const auto width = static_cast<std::size_t>(pairs);
  {
    const py::gil_scoped_release release;
    std::vector<Position> place(static_cast<std::size_t>(ids.axes));
    for (std::int64_t t = 0; t < ids.tokens; ++t, c += pairs, s += pairs) {
      for (std::int64_t axis = 0; axis < ids.axes; ++axis) {
        place[static_cast<std::size_t>(axis)] = ids.axis(axis)[static_cast<std::size_t>(t)];
      }
      rotation_row(rotation, role, place, std::span(c, width), std::span(s, width));
    }
  }
  return py::make_tuple(cos, sin);
}

template <class Real>
py::array_t<Real> hidden_table(const Encoding& encoding, const IdArray& given) {
  const HiddenRows& hidden = encoding.hidden();
  const PositionIds ids = ids_of(given);
  require(ids.axes == 1 && ids.batch == 1, "this encoding needs one row of positions");
  encoding.check_positions(ids.ids);
  py::array_t<Real> rows({ids.tokens, hidden.dim});
  Real* row = rows.mutable_data();
  const py::gil_scoped_release release;
  for (const Position id : ids.ids) {
    hidden_row(hidden, id, std::span(row, static_cast<std::size_t>(hidden.dim)));
    row += hidden.dim;
  }
  return rows;
}

py::array_t<double> bias(const Encoding& encoding, const IdArray& queries, const IdArray& keys) {
  std::vector<double> values;
  const std::vector<Position> query_ids = ids_of(queries).ids, key_ids = ids_of(keys).ids;
  {
    const py::gil_scoped_release release;
    values = bias_matrix(encoding, query_ids, key_ids);
  }
  return numpy_of(values, {encoding.score().heads, queries.size(), keys.size()});
}

py::array_t<std::int64_t> buckets(const Encoding& encoding, const IdArray& queries, const IdArray& keys) {
  return numpy_of(bucket_matrix(encoding, ids_of(queries).ids, ids_of(keys).ids), {queries.size(), keys.size()});
}

int axes_of(const Encoding& encoding) { return encoding.site() == Site::query_key ? encoding.rotation().axes : 1; }

}  // namespace

void bind_encoding(py::module_& module) {
  py::class_<Encoding>(module, "Encoding")
      .def(py::init(&make_encoding), py::arg("scheme"), py::arg("arguments"))
      .def_property_readonly("scheme", [](const Encoding& encoding) { return encoding.scheme().name; })
      .def_property_readonly("site", [](const Encoding& encoding) { return name_of(encoding.site()); })
      .def_property_readonly("claims", &claim_names)
      .def_property_readonly("arguments", [](const Encoding& encoding) { return to_python(encoding.arguments()); })
      .def_property_readonly("axes", &axes_of)
      .def_property_readonly("length_dependent", &Encoding::length_dependent)
      .def("at_length", &Encoding::at_length, py::arg("length"))
      .def_property_readonly("position_range",
                             [](const Encoding& encoding) {
                               const PositionRange range = encoding.position_range();
                               return py::make_tuple(range.first, range.last);
                             })
      .def_property_readonly("inv_freq",
                             [](const Encoding& encoding) {
                               return numpy_of(encoding.rotation().inv_freq, {encoding.rotation().pairs()});
                             })
      .def_property_readonly("head_dim", [](const Encoding& encoding) { return encoding.rotation().head_dim; })
      .def_property_readonly("magnitude", [](const Encoding& encoding) { return encoding.rotation().magnitude; })
      .def_property_readonly("softmax_scale_factor",
                             [](const Encoding& encoding) { return encoding.rotation().softmax_scale_factor; })
      .def_property_readonly("slopes",
                             [](const Encoding& encoding) {
                               const std::vector<double>& slopes = encoding.score().slopes;
                               return numpy_of(slopes, {static_cast<py::ssize_t>(slopes.size())});
                             })
      .def("rotation_rows", &rotation_table<float>, py::arg("ids"), py::arg("role"))
      .def("rotation_rows_double", &rotation_table<double>, py::arg("ids"), py::arg("role"))
      .def("hidden_rows", &hidden_table<float>, py::arg("ids"))
      .def("hidden_rows_double", &hidden_table<double>, py::arg("ids"))
      .def("bias", &bias, py::arg("queries"), py::arg("keys"))
      .def("buckets", &buckets, py::arg("queries"), py::arg("keys"));
}

}  // namespace locus::python
