// SPDX-License-Identifier: Apache-2.0
// Measurements of real models: returns results as JSON text, which Python converts to dataclasses.
#include "probe/measure/loss_run.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <nlohmann/json.hpp>

#include "locus/error.h"
#include "locus/settings.h"
#include "module.h"

namespace py = pybind11;

namespace locus::python {
namespace {

/// The arguments from Python; dictionary keys have the names of these fields.
struct LossRequest {
  std::filesystem::path model;
  std::optional<std::string> text;
  std::optional<std::vector<probe::Token>> ids;
  std::optional<std::filesystem::path> tokenizer;
  bool special = false;
  std::uint64_t seed = 0;
  probe::LossOptions options;
};

LossRequest request_of(const py::dict& given) {
  LossRequest request;
  request.model = given["model"].cast<std::filesystem::path>();
  request.text = given["text"].cast<std::optional<std::string>>();
  request.ids = given["ids"].cast<std::optional<std::vector<probe::Token>>>();
  request.tokenizer = given["tokenizer"].cast<std::optional<std::filesystem::path>>();
  request.special = given["special"].cast<bool>();
  request.seed = given["seed"].cast<std::uint64_t>();
  for (const std::string& text : given["rules"].cast<std::vector<std::string>>()) {
    for (std::string& one : split_spellings(text)) request.options.rules.push_back(std::move(one));
  }
  request.options.edges = given["buckets"].cast<std::vector<std::int64_t>>();
  request.options.stride = given["window_stride"].cast<std::optional<std::int64_t>>();
  require(!request.text || !request.ids, "give text or ids, not both");
  return request;
}

std::unique_ptr<probe::Tokenizer> tokenizer_of(const LossRequest& request, const probe::Model& model) {
  const auto vocab = static_cast<std::int32_t>(model.config().vocab);
  if (request.tokenizer) return probe::read_tokenizer(*request.tokenizer, vocab);
  if (request.ids) return nullptr;  // ids include their start tokens
  if (!request.text && model.config().begins_anywhere) return nullptr;
  return probe::read_model_tokenizer(request.model, vocab);
}

probe::MeasuredText text_of(const LossRequest& request, const probe::Model& model, std::int64_t most,
                            const probe::RunControl& control) {
  const std::unique_ptr<probe::Tokenizer> tokenizer = tokenizer_of(request, model);
  if (request.ids) return probe::given_text(*request.ids, tokenizer.get(), "ids", most);
  if (!request.text) return probe::text_from_model(model, tokenizer.get(), request.seed, most, control);
  return probe::given_text(tokenizer->encode(*request.text, {.bos = false, .special = request.special}),
                           tokenizer.get(), "text", most);
}

std::string probe_loss(const py::dict& given) {
  const LossRequest request = request_of(given);
  const std::shared_ptr<Executor> threads = executor();
  probe::RunControl control;
  control.executor = threads.get();
  control.interrupted = [] {
    const py::gil_scoped_acquire acquire;
    return PyErr_Occurred() != nullptr || PyErr_CheckSignals() != 0;
  };
  std::string json;
  {
    const py::gil_scoped_release release;
    const probe::Model model = probe::load(request.model);
    const probe::LossPlan plan = plan_losses(model, request.options);
    probe::MeasuredText text = text_of(request, model, plan.most_tokens(), control);
    if (!control.interrupted()) {
      json = to_json(measure_losses(model, plan, std::move(text), control), request.model.string()).dump();
    }
  }
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  return json;
}

}  // namespace

void bind_probe(py::module_& module) { module.def("probe_loss", &probe_loss, py::arg("request")); }

}  // namespace locus::python
