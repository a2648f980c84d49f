// SPDX-License-Identifier: Apache-2.0
// The encodings that a model's files describe.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "locus/encoding.h"
#include "locus/io/gguf_encoding.h"
#include "locus/io/hf_config.h"
#include "module.h"
#include "values.h"

namespace locus::python {
namespace {

py::list layers_of(const std::vector<io::LayerEncoding>& layers) {
  py::list result;
  for (const io::LayerEncoding& layer : layers) {
    py::dict one;
    one["layer_type"] = layer.layer_type;
    one["scheme"] = layer.scheme;
    one["arguments"] = to_python(layer.arguments);
    one["used"] = layer.used;
    one["defaulted"] = layer.defaulted;
    one["unknown"] = layer.unknown;
    one["training_length"] = layer.training_length;
    one["layers"] = layer.layers;
    one["not_applied"] = layer.not_applied;
    one["softmax_scale"] = layer.softmax_scale;
    py::list alternatives;
    for (const io::AlternativeReading& other : layer.alternatives) {
      py::dict reading;
      reading["reader"] = other.reader;
      reading["what"] = other.what;
      reading["scheme"] = other.scheme;
      reading["arguments"] = to_python(other.arguments);
      alternatives.append(reading);
    }
    one["alternatives"] = alternatives;
    result.append(one);
  }
  return result;
}

// (kinds of layers, dtype)
py::tuple read_config(const std::filesystem::path& path, std::optional<std::string> layer_type,
                      std::optional<std::string> pairing, std::optional<std::int64_t> length) {
  io::HfOptions options;
  options.layer_type = std::move(layer_type);
  options.pairing = std::move(pairing);
  options.length = length;
  const io::HfConfig config = io::read_hf_config(path, options);
  return py::make_tuple(layers_of(config.layers), config.dtype);
}

py::list read_gguf(const std::filesystem::path& path, std::optional<std::int64_t> length) {
  return layers_of(io::resolve_gguf_encoding(io::read_gguf(path), length).layers);
}

}  // namespace

void bind_models(py::module_& module) {
  module.def("read_config", &read_config, py::arg("path"), py::arg("layer_type"), py::arg("pairing"),
             py::arg("length"));
  module.def("read_gguf", &read_gguf, py::arg("path"), py::arg("length"));
}

}  // namespace locus::python
