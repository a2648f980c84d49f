// SPDX-License-Identifier: Apache-2.0
// Reads a model's files so that contradictions become findings instead of errors.
#include <algorithm>

#include "doctor/lint/findings.h"
#include "doctor/lint/tensors.h"
#include "locus/error.h"
#include "locus/io/gguf_encoding.h"
#include "locus/io/hf_config.h"
#include "locus/io/sniff.h"

namespace locus {
namespace {

namespace fs = std::filesystem;

/// Returns the longest sequence that the file states.
std::int64_t promised_length(const std::vector<io::LayerEncoding>& layers) {
  std::int64_t longest = 0;
  for (const io::LayerEncoding& layer : layers) {
    const auto stated = layer.arguments.maybe_integer("max_length");
    longest = std::max({longest, stated.value_or(0), layer.trained_length.value_or(0)});
    const Value* rule = layer.arguments.find("rule");
    if (rule == nullptr || std::get<std::string>(*rule) != "yarn") continue;
    const double factor = layer.arguments.maybe_real("factor").value_or(1);
    const auto original = static_cast<double>(layer.arguments.maybe_integer("original_length").value_or(0));
    longest = std::max(longest, static_cast<std::int64_t>(std::min(factor * original, 0x1p31)));
  }
  return longest;
}

/// Replaces arguments that depend on the input, or that only cost memory.
Arguments for_examination(const LintLayer& layer, std::int64_t served_length) {
  Arguments arguments = layer.arguments;
  if (layer.scheme == "learned") arguments.set("dim", std::int64_t{1});
  const std::string axes = arguments.has("axes") ? arguments.text("axes") : "";
  if (axes == "pixtral" || axes == "dinov3") {
    for (const char* side : {"grid_height", "grid_width"}) {
      const bool needed = axes == "dinov3" || std::string_view(side) == "grid_width";
      if (needed && !arguments.has(side)) arguments.set(side, std::int64_t{16});
    }
  }
  for (const Parameter& parameter : parameters_of(find_scheme(layer.scheme), arguments)) {
    if (parameter.name == "length") arguments.set("length", std::max<std::int64_t>(served_length, 1));
  }
  return arguments;
}

void take_layers(LintModel& model, std::vector<io::LayerEncoding> layers) {
  if (!model.served_length_given) model.served_length = promised_length(layers);
  for (io::LayerEncoding& read : layers) {
    LintLayer layer{.layer_type = std::move(read.layer_type),
                    .scheme = std::move(read.scheme),
                    .arguments = std::move(read.arguments),
                    .used = std::move(read.used),
                    .defaulted = std::move(read.defaulted),
                    .unknown = std::move(read.unknown),
                    .trained_length = read.trained_length,
                    .encoding = {},
                    .refusal = {},
                    .not_applied = std::move(read.not_applied),
                    .alternatives = std::move(read.alternatives)};
    try {
      layer.encoding.emplace(layer.scheme, for_examination(layer, model.served_length));
    } catch (const Error& error) {
      layer.refusal = error.what();
    }
    model.layers.push_back(std::move(layer));
  }
}

void read_config(LintModel& model, const fs::path& path) {
  model.format = "config.json";
  const std::string text = io::read_hf_config_text(path);
  model.hf = io::collect_hf_rope_keys(text, path.string());
  io::HfConfig config;
  io::HfOptions options;
  options.any_list_length = true;
  try {
    config = io::resolve_hf_config(text, path.string(), options);
  } catch (const io::UnsupportedModel& error) {
    model.refusal = error.what();
    model.unsupported = true;
    model.has_attention = error.has_attention();
    return;
  } catch (const Error& error) {
    model.refusal = error.what();
    return;
  }
  model.model_type = config.model_type;
  take_layers(model, std::move(config.layers));
}

void read_gguf_settings(LintModel& model, const fs::path& path) {
  model.format = "GGUF";
  const io::GgufFile file = io::read_gguf(path);
  std::vector<io::LayerEncoding> layers;
  try {
    model.gguf = io::collect_gguf_rope(file);
    model.model_type = model.gguf->architecture;
    const auto length = model.served_length_given ? std::optional(model.served_length) : std::nullopt;
    layers = io::resolve_gguf_encoding(file, length).layers;
  } catch (const Error& error) {
    model.refusal = error.what();
    return;
  }
  take_layers(model, std::move(layers));
}

void read_tensors(LintModel& model, const fs::path& path) {
  model.format = "safetensors";
  doctor::PositionTensors found = doctor::position_tensors(io::read_safetensors(path));
  model.tensors = std::move(found.sentence);
  take_layers(model, std::move(found.layers));
}

}  // namespace

LintModel read_lint_model(const fs::path& path, std::optional<std::int64_t> served_length) {
  constexpr std::int64_t longest = max_position + 1;
  require(!served_length || (*served_length >= 1 && *served_length <= longest), "the served length must be from 1 to ",
          longest, ", got ", served_length.value_or(0));
  LintModel model;
  model.name = path.string();
  model.served_length = served_length.value_or(0);
  model.served_length_given = served_length.has_value();
  const fs::path file = io::find_model_file(path);
  if (io::sniff(file) == io::FileKind::safetensors) {
    read_tensors(model, file);
  } else if (io::sniff_settings(file) == io::FileKind::gguf) {
    read_gguf_settings(model, file);
  } else {
    read_config(model, file);
  }
  return model;
}

}  // namespace locus
