// SPDX-License-Identifier: Apache-2.0
// Verify and diagnose: returns results as dictionaries, which Python converts to dataclasses.
#include <pybind11/stl.h>

#include "array.h"
#include "locus/doctor/diagnosis_fields.h"
#include "locus/doctor/properties.h"
#include "locus/doctor/verify_callable.h"
#include "locus/error.h"
#include "module.h"
#include "values.h"

namespace locus::python {
namespace {

using Doubles = py::array_t<double, py::array::c_style>;
using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;

py::list checks_of(const std::vector<Check>& checks) {
  py::list result;
  for (const Check& check : checks) {
    py::dict one;
    one["name"] = check.name;
    one["scheme"] = check.scheme;
    one["value"] = check.value;
    one["bound"] = check.bound;
    one["passed"] = check.pass;
    one["note"] = check.note;
    result.append(one);
  }
  return result;
}

// The caller's code gets copies: it may keep them and cannot overwrite the originals.
template <class T>
py::array_t<T> copy_of(std::span<const T> values, std::vector<py::ssize_t> shape) {
  py::array_t<T> array(std::move(shape));
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

void take_result(const py::object& result, std::span<float> output, const std::vector<py::ssize_t>& shape) {
  const Floats numbers = Floats::ensure(result);
  if (!numbers) throw py::error_already_set();
  const std::vector<py::ssize_t> got(numbers.shape(), numbers.shape() + numbers.ndim());
  require(got == shape, "the function under verification must return the shape of its input");
  std::copy(numbers.data(), numbers.data() + numbers.size(), output.begin());
}

// Optional keywords: seed, thorough, arithmetic, max_length, causal, window.
VerifyOptions options_of(const py::dict& given) {
  VerifyOptions options;
  const auto has = [&](const char* name) { return given.contains(name) && !given[name].is_none(); };
  if (has("seed")) options.seed = given["seed"].cast<std::uint64_t>();
  if (has("thorough")) options.thorough = given["thorough"].cast<bool>();
  if (has("max_length")) options.max_length = given["max_length"].cast<Position>();
  if (has("causal")) options.causal = given["causal"].cast<bool>();
  if (has("window")) options.window = given["window"].cast<std::int64_t>();
  if (!has("arithmetic")) return options;
  const auto name = given["arithmetic"].cast<std::string>();
  for (const ElementType type :
       {ElementType::float32, ElementType::float64, ElementType::bfloat16, ElementType::float16}) {
    if (name_of(type) == name) options.arithmetic = type;
  }
  require(options.arithmetic.has_value(), "arithmetic must be float32, float64, bfloat16 or float16, got '", name, "'");
  return options;
}

py::list verify_rotation(const Encoding& encoding, const py::function& function, const py::dict& options) {
  return checks_of(verify_rotate(
      encoding,
      [&](const RotateRequest& request) {
        const std::vector<py::ssize_t> shape{request.tokens, request.heads, request.head_dim};
        const auto axes = request.tokens == 0 ? 1 : static_cast<std::int64_t>(request.ids.size()) / request.tokens;
        std::vector<py::ssize_t> id_shape{request.tokens};
        if (axes > 1) id_shape.insert(id_shape.begin(), axes);
        take_result(function(copy_of(std::span<const float>(request.data), shape), copy_of(request.ids, id_shape),
                             request.role == Role::query ? "query" : "key"),
                    request.data, shape);
      },
      options_of(options)));
}

py::list verify_attention(const Encoding& encoding, const py::function& function, const py::dict& options) {
  return checks_of(verify_attend(
      encoding,
      [&](const AttendRequest& request) {
        const std::vector<py::ssize_t> query_shape{request.queries, request.heads, request.head_dim};
        const std::vector<py::ssize_t> key_shape{request.keys, request.key_heads, request.head_dim};
        const auto flat = [](const auto& values) { return copy_of(values, {static_cast<py::ssize_t>(values.size())}); };
        py::dict more;
        if (!request.query_boundaries.empty()) {
          more["query_boundaries"] = flat(request.query_boundaries);
          more["key_boundaries"] = flat(request.key_boundaries);
        }
        if (!request.key_mask.empty()) more["key_mask"] = flat(request.key_mask);
        if (!request.causal) more["causal"] = false;
        if (request.window > 0) more["window"] = request.window;
        more["sequence"] = request.sequence;
        more["cached"] = request.cached;
        more["forked_from"] = request.forked_from;
        const py::object result =
            function(copy_of(request.query, query_shape), copy_of(request.key, key_shape),
                     copy_of(request.value, key_shape), flat(request.query_ids), flat(request.key_ids), more);
        if (!py::isinstance<py::tuple>(result)) return take_result(result, request.output, query_shape);
        const auto both = result.cast<py::tuple>();
        require(both.size() == 2,
                "the function under verification must return the output, or the output and the log-sum-exps");
        take_result(both[0], request.output, query_shape);
        take_result(both[1], request.log_sum_exp, {request.queries, request.heads});
      },
      options_of(options)));
}

py::list verify_scores(const Encoding& encoding, const py::function& function, const py::dict& options) {
  return checks_of(verify_bias(
      encoding,
      [&](const BiasRequest& request) {
        const auto queries = static_cast<py::ssize_t>(request.query_ids.size());
        const auto keys = static_cast<py::ssize_t>(request.key_ids.size());
        take_result(function(copy_of(request.query_ids, {queries}), copy_of(request.key_ids, {keys})), request.bias,
                    {request.heads, queries, keys});
      },
      options_of(options)));
}

py::list verify_hidden(const Encoding& encoding, const py::function& function, const py::dict& options) {
  return checks_of(verify_rows(
      encoding,
      [&](const RowsRequest& request) {
        const auto tokens = static_cast<py::ssize_t>(request.ids.size());
        take_result(function(copy_of(request.ids, {tokens})), request.rows, {tokens, request.dim});
      },
      options_of(options)));
}

// Converts the fields of results to Python values.
template <class T>
py::object to_object(const std::optional<T>& value);
template <class T>
py::object to_object(const std::vector<T>& values);
template <class T>
py::object to_object(const T& value) {
  if constexpr (HasFields<T>) {
    py::dict fields;
    visit_fields(value, [&](std::string_view name, const auto& one) { fields[py::str(name)] = to_object(one); });
    return fields;
  } else if constexpr (std::is_same_v<T, Arguments>) {
    return to_python(value);
  } else {
    return py::cast(value);
  }
}
template <class T>
py::object to_object(const std::optional<T>& value) {
  return value ? to_object(*value) : py::none();
}
template <class T>
py::object to_object(const std::vector<T>& values) {
  py::list list;
  for (const T& value : values) list.append(to_object(value));
  return list;
}

std::vector<double> doubles_of(const Doubles& array) { return {array.data(), array.data() + array.size()}; }

py::object diagnose_rotation(const Doubles& before, const Doubles& after, const std::optional<Encoding>& encoding,
                             const std::optional<IdArray>& ids, const std::string& role, bool both_rotated) {
  require(before.ndim() == 4 && after.ndim() == 4, "dumps must be [batch, tokens, heads, dim]");
  const RotationDump dump{.batch = before.shape(0),
                          .tokens = before.shape(1),
                          .heads = before.shape(2),
                          .head_dim = before.shape(3),
                          .before = doubles_of(before),
                          .after = doubles_of(after)};
  require(role == "query" || role == "key" || role == "value" || role == "output",
          "role must be query, key, value or output, got ", role);
  Expectation expected{.encoding = encoding,
                       .positions = {},
                       .role = role == "key" ? Role::key : Role::query,
                       .both_rotated = both_rotated,
                       .values = role == "value",
                       .output = role == "output"};
  if (ids) expected.positions = ids_of(*ids);
  Diagnosis diagnosis;
  {
    const py::gil_scoped_release release;
    diagnosis = diagnose(dump, expected);
  }
  return to_object(diagnosis);
}

py::object diagnose_bias_matrix(const Doubles& bias, const std::optional<Encoding>& expected) {
  require(bias.ndim() == 3, "bias must be [heads, queries, keys], got ", bias.ndim(), " dimensions");
  const BiasDiagnosis diagnosis = diagnose_bias(
      {.heads = bias.shape(0), .queries = bias.shape(1), .keys = bias.shape(2), .bias = doubles_of(bias)}, expected);
  return to_object(diagnosis);
}

}  // namespace

void bind_doctor(py::module_& module) {
  module.def("verify_rotate", &verify_rotation, py::arg("encoding"), py::arg("function"), py::arg("options"));
  module.def("verify_attend", &verify_attention, py::arg("encoding"), py::arg("function"), py::arg("options"));
  module.def("verify_bias", &verify_scores, py::arg("encoding"), py::arg("function"), py::arg("options"));
  module.def("verify_rows", &verify_hidden, py::arg("encoding"), py::arg("function"), py::arg("options"));
  module.def(
      "verify_properties", [](const Encoding& encoding) { return checks_of(verify_properties(encoding)); },
      py::arg("encoding"));
  module.def("diagnose", &diagnose_rotation, py::arg("before"), py::arg("after"), py::arg("encoding"), py::arg("ids"),
             py::arg("role"), py::arg("both_rotated"));
  module.def("diagnose_bias", &diagnose_bias_matrix, py::arg("bias"), py::arg("encoding"));
}

}  // namespace locus::python
