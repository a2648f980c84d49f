// SPDX-License-Identifier: Apache-2.0
#include "locus/io/model_encoding.h"

#include <algorithm>

#include "locus/error.h"
#include "locus/io/encoding_json.h"
#include "locus/io/gguf_encoding.h"
#include "locus/io/npy.h"
#include "locus/io/sniff.h"

namespace locus::io {
namespace {

bool takes(const LayerEncoding& layer, std::string_view name) {
  const std::vector<Parameter> parameters = parameters_of(find_scheme(layer.scheme), layer.arguments);
  return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& one) { return one.name == name; });
}

// transformers and vLLM round the table to the storage type of a 16-bit model.
void set_profile(LayerEncoding& layer, const std::string& profile, const std::optional<std::string>& dtype) {
  if (profile.empty() || !takes(layer, "profile")) return;
  layer.arguments.set("profile", profile);
  const bool rounds = profile == "hf" || profile == "vllm";
  if (rounds && takes(layer, "table_type") && (dtype == "bfloat16" || dtype == "float16")) {
    layer.arguments.set("table_type", *dtype);
  }
}

std::vector<LayerEncoding> read_gguf_layers(const std::filesystem::path& path, const ModelOptions& options) {
  require(options.pairing.empty(), path.string(),
          ": the pairing of a GGUF file follows from its architecture; it cannot ", "be given (", options.pairing, ")");
  std::vector<LayerEncoding> layers = resolve_gguf_encoding(read_gguf(path), options.length).layers;
  if (options.layer_type.empty()) return layers;
  std::string known;
  for (const LayerEncoding& layer : layers) known += (known.empty() ? "" : ", ") + layer.layer_type;
  std::erase_if(layers, [&](const LayerEncoding& layer) { return layer.layer_type != options.layer_type; });
  require(!layers.empty(), path.string(), ": layer_type must be one of: ", known, "; got ", options.layer_type);
  return layers;
}

Tensor read_tensor(const Setting& setting) {
  const NpyArray array = read_npy(setting.text);
  return {.shape = array.shape, .data = to_floats(array, setting.text)};
}

/// Replaces arguments of the file by `overrides`. A different rule removes the parameters of the old one.
void override_arguments(LayerEncoding& layer, std::vector<Setting> overrides) {
  if (overrides.empty()) return;
  const Scheme& scheme = find_scheme(layer.scheme);
  const bool has_rule = layer.arguments.has("rule");
  const bool other_rule =
      std::any_of(overrides.begin(), overrides.end(), [](const Setting& setting) { return setting.name == "rule"; });
  for (const Setting& setting : overrides) layer.used.push_back("set: " + setting.name + " = " + setting.text);
  if (has_rule && !other_rule) overrides.push_back({"rule", layer.arguments.text("rule")});
  const Arguments given = parse_settings(scheme, overrides, read_tensor);  // outlives the loop below
  for (const auto& [name, value] : given.all()) layer.arguments.set(name, value);
  if (!other_rule) return;
  const std::vector<Parameter> parameters = parameters_of(scheme, layer.arguments);
  Arguments kept;
  for (const auto& [name, value] : layer.arguments.all()) {
    const auto same = [wanted = std::string_view(name)](const Parameter& one) { return one.name == wanted; };
    if (std::any_of(parameters.begin(), parameters.end(), same)) kept.set(name, value);
  }
  layer.arguments = std::move(kept);
}

HfOptions hf_options(const ModelOptions& options) {
  HfOptions hf;
  if (!options.layer_type.empty()) hf.layer_type = options.layer_type;
  if (!options.pairing.empty()) hf.pairing = options.pairing;
  hf.length = options.length;
  return hf;
}

}  // namespace

std::vector<ModelEncoding> model_encodings(const std::filesystem::path& given, const ModelOptions& options) {
  const std::filesystem::path path = find_model_file(given);
  const FileKind kind = sniff_settings(path);
  HfConfig config;
  if (kind == FileKind::gguf) {
    config.layers = read_gguf_layers(path, options);
  } else {
    config = read_hf_config(path, hf_options(options));
  }
  std::vector<ModelEncoding> result;
  for (LayerEncoding& layer : config.layers) {
    if (!options.incomplete) require_applicable(layer, path.string());
    override_arguments(layer, options.overrides);
    set_profile(layer, options.profile, config.dtype);
    for (const auto& [argument, shape] : layer.tensors) {
      layer.defaulted.push_back(argument + " = initial values (the learned ones are in the weights, as " +
                                encoding_tensor_name(argument) + ")");
    }
    if (options.adjust) options.adjust(layer);
    Encoding encoding(layer.scheme, layer.arguments);
    result.push_back({std::move(layer), std::move(encoding)});
  }
  return result;
}

std::vector<HfPart> model_parts(const std::filesystem::path& path) {
  const std::filesystem::path file = find_model_file(path);
  if (sniff(file) == FileKind::gguf) return {};
  return read_hf_config(file).parts;
}

ModelEncoding model_encoding(const std::filesystem::path& path, const ModelOptions& options) {
  std::vector<ModelEncoding> all = model_encodings(path, options);
  std::string names;
  for (const ModelEncoding& one : all) names += (names.empty() ? "" : ", ") + one.read.layer_type;
  require(all.size() == 1, path.string(), " has several layer types; choose one (layer_type): ", names);
  return std::move(all.front());
}

}  // namespace locus::io
