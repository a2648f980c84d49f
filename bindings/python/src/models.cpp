// SPDX-License-Identifier: Apache-2.0
// The encodings that a model's files describe.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "locus/encoding.h"
#include "locus/io/model_encoding.h"
#include "locus/settings.h"
#include "module.h"
#include "values.h"

namespace locus::python {
namespace {

py::list model_encodings(const std::filesystem::path& path, const std::optional<std::string>& layer_type,
                         const std::optional<std::string>& pairing, const std::optional<std::string>& profile,
                         std::optional<std::int64_t> length, bool incomplete) {
  const io::ModelOptions options{.layer_type = layer_type.value_or(""),
                                 .pairing = pairing.value_or(""),
                                 .profile = profile.value_or(""),
                                 .length = length,
                                 .overrides = {},
                                 .incomplete = incomplete};
  py::list result;
  for (const io::ModelEncoding& one : io::model_encodings(path, options)) {
    py::dict layer;
    layer["layer_type"] = one.read.layer_type;
    layer["scheme"] = one.read.scheme;
    layer["arguments"] = to_python(one.read.arguments);
    layer["used"] = one.read.used;
    layer["defaulted"] = one.read.defaulted;
    layer["unknown"] = one.read.unknown;
    layer["trained_length"] = one.read.trained_length;
    layer["layers"] = one.read.layers;
    layer["not_applied"] = one.read.not_applied;
    layer["softmax_scale"] = one.read.softmax_scale;
    py::list alternatives;
    for (const io::AlternativeReading& other : one.read.alternatives) {
      alternatives.append(py::make_tuple(other.reader, other.what));
    }
    layer["alternatives"] = alternatives;
    result.append(layer);
  }
  return result;
}

py::dict spelling_of(const std::string& text) {
  const Spelling spelling = parse_spelling(text);
  py::dict result;
  result["config"] = spelling.config;
  result["scheme"] = spelling.scheme;
  result["arguments"] = spelling.config.empty() ? to_python(arguments_of(spelling)) : py::dict();
  return result;
}

}  // namespace

void bind_models(py::module_& module) {
  module.def("model_encodings", &model_encodings, py::arg("path"), py::arg("layer_type"), py::arg("pairing"),
             py::arg("profile"), py::arg("length"), py::arg("incomplete"));
  module.def("parse_spelling", &spelling_of, py::arg("text"));
}

}  // namespace locus::python
