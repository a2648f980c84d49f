// SPDX-License-Identifier: Apache-2.0
#include "encoding_options.h"

#include <algorithm>
#include <iostream>
#include <map>

#include "locus/error.h"
#include "locus/io/model_encoding.h"
#include "locus/io/npy.h"
#include "locus/scaling.h"
#include "locus/settings.h"
#include "locus/text.h"
#include "model_reading.h"
#include "position_list.h"

namespace locus::tools {
namespace {

Tensor read_tensor(const Setting& setting) {
  const io::NpyArray array = io::read_npy(setting.text);
  return {.shape = array.shape, .data = io::to_floats(array, setting.text)};
}

bool takes(const Scheme& scheme, const Arguments& arguments, std::string_view name) {
  const std::vector<Parameter> parameters = parameters_of(scheme, arguments);
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

/// Shortens the table of a learned encoding to the positions that are read; returns its full length.
std::optional<std::int64_t> shorten_table(std::string_view scheme, Arguments& arguments,
                                          std::optional<std::int64_t> positions_read) {
  const auto meant = arguments.maybe_integer("max_positions");
  if (scheme != "learned" || !positions_read || !meant || arguments.has("table") || *meant <= 1) return {};
  require(*positions_read <= *meant, scheme, " positions must be from 0 to ", *meant - 1,
          " (the rows of its table), got ", *positions_read - 1);
  arguments.set("max_positions", std::max<std::int64_t>(*positions_read, 1));
  return meant;
}

ChosenEncoding from_settings(const EncodingOptions& options, const Spelling& spelling,
                             std::optional<std::int64_t> length) {
  const Scheme& scheme = find_scheme(spelling.scheme);
  require(options.layer_type.empty(), "--layer-type needs --config");
  Arguments arguments = arguments_of(spelling, read_tensor);
  if (!options.pairing.empty()) arguments.set("pairing", options.pairing);
  if (!options.profile.empty()) arguments.set("profile", options.profile);
  if (length && !arguments.has("length") && takes(scheme, arguments, "length")) arguments.set("length", *length);
  const auto max_positions = shorten_table(scheme.name, arguments, options.positions_read);
  ChosenEncoding chosen{.layer_type = "",
                        .encoding = Encoding(scheme.name, arguments),
                        .used = {},
                        .defaulted = {},
                        .unknown = {},
                        .trained_length = {},
                        .note = {},
                        .max_positions = max_positions,
                        .read = {}};
  for (const auto& [name, value] : chosen.encoding.arguments().all()) {
    if (!arguments.has(name)) chosen.defaulted.push_back(name + " = " + to_text(value));
  }
  for (const char* name : {"original_length", "max_length"}) {
    if (!chosen.trained_length) chosen.trained_length = chosen.encoding.arguments().maybe_integer(name);
  }
  return chosen;
}

std::vector<ChosenEncoding> from_config(const EncodingOptions& options, const Spelling& spelling,
                                        std::optional<std::int64_t> length) {
  std::vector<ChosenEncoding> result;
  std::map<std::string, std::optional<std::int64_t>> max_positions;  // by layer type
  const auto adjust = [&](io::LayerEncoding& layer) {
    max_positions[layer.layer_type] = shorten_table(layer.scheme, layer.arguments, options.positions_read);
  };
  const io::ModelOptions wanted{options.layer_type, options.pairing,    options.profile, length,
                                spelling.settings,  options.incomplete, adjust};
  for (const io::ModelEncoding& one : io::model_encodings(spelling.config, wanted)) {
    result.push_back({one.read.layer_type, one.encoding, one.read.used, one.read.defaulted, one.read.unknown,
                      one.read.trained_length, "", max_positions[one.read.layer_type], one.read});
  }
  return result;
}

}  // namespace

void add_encoding_options(CLI::App& command, EncodingOptions& options) {
  command
      .add_option(
          "--scheme", options.schemes,
          "Use this encoding, such as alibi:heads=8 or rope:rule=yarn,factor=2; names are those of `locus list`. "
          "@FILE is --config FILE")
      ->type_name("ENCODING")
      ->take_all()
      ->expected(1, 1000)
      ->allow_extra_args(false);
  command.add_option("--set", options.settings, "Set a parameter of the scheme (tensors: a .npy file); repeatable")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->expected(1, 1000)
      ->allow_extra_args(false);
  command.add_option("--config", options.config,
                     "Read the encoding from a config.json, a model folder or a GGUF file, instead of --scheme");
  command.add_option("--layer-type", options.layer_type,
                     "Choose one layer type of --config, such as sliding_attention");
  command.add_option("--pairing", options.pairing, "Pair half or interleaved, instead of what the model type implies")
      ->check(CLI::IsMember({"half", "interleaved"}));
  command.add_option("--profile", options.profile, "Reproduce the float32 arithmetic of exact, hf, ggml or vllm")
      ->check(CLI::IsMember({"exact", "hf", "ggml", "vllm"}));
  add_integer(command, "--seq-len", options.seq_len, "Set the sequence length, for rules that depend on it");
}

std::vector<Spelling> spellings_of(const EncodingOptions& options) {
  require(options.schemes.empty() || options.config.empty(), "give either --scheme or --config, not both");
  std::vector<Spelling> spellings;
  for (const std::string& text : options.schemes) {
    for (const std::string& one : split_spellings(text)) spellings.push_back(parse_spelling(one));
  }
  if (!options.config.empty()) spellings.push_back(parse_spelling("@" + options.config));
  if (options.settings.empty()) return spellings;
  require(spellings.size() == 1, "--set needs --scheme with one scheme, or --config");
  for (Setting& setting : parse_setting_list("--set", options.settings)) {
    for (const Setting& other : spellings.front().settings) {
      require(other.name != setting.name, "--set ", setting.name, ": ", spellings.front().text, " already sets it");
    }
    spellings.front().settings.push_back(std::move(setting));
  }
  return spellings;
}

bool is_set(const Spelling& spelling, std::string_view name) {
  return std::any_of(spelling.settings.begin(), spelling.settings.end(),
                     [&](const Setting& setting) { return setting.name == name; });
}

Spelling with_required(Spelling spelling) {
  if (!spelling.config.empty()) return spelling;
  const std::string name(spelling.setting("rule"));
  const Rule* rule = name.empty() ? nullptr : &find_rule(name);
  const std::string_view trained_length = rule == nullptr ? "" : rule->trained_length;
  const auto fill = [&](const std::vector<Parameter>& parameters, const Arguments& example) {
    for (const Parameter& parameter : parameters) {
      const Value* value = example.find(parameter.name);
      const bool needed = parameter.required || parameter.name == trained_length;
      if (needed && value != nullptr && !is_set(spelling, parameter.name)) {
        spelling.settings.push_back({std::string(parameter.name), to_text(*value)});
      }
    }
  };
  const Scheme& scheme = find_scheme(spelling.scheme);
  fill(scheme.parameters, scheme.example);
  if (rule != nullptr) fill(rule->parameters, rule->example);
  return spelling;
}

std::vector<ChosenEncoding> choose_encodings(const EncodingOptions& options, const Spelling& spelling,
                                             std::optional<std::int64_t> length) {
  constexpr std::int64_t longest = max_position + 1;
  std::string note;
  if (options.seq_len) {
    require(*options.seq_len >= 1 && *options.seq_len <= longest, "--seq-len must be from 1 to ", longest, ", got ",
            *options.seq_len);
    if (length && *options.seq_len < *length) {
      note = "--seq-len " + std::to_string(*options.seq_len) + " is shorter than the largest position + 1 (" +
             std::to_string(*length) + ")";
    }
    length = options.seq_len;
  }
  std::vector<ChosenEncoding> chosen;
  if (spelling.config.empty()) {
    chosen.push_back(from_settings(options, spelling, length));
  } else {
    chosen = from_config(options, spelling, length);
  }
  chosen.front().note = note;
  return chosen;
}

std::vector<ChosenEncoding> choose_encodings(const EncodingOptions& options, std::optional<std::int64_t> length) {
  const std::vector<Spelling> spellings = spellings_of(options);
  require(!spellings.empty(), "give either --scheme or --config");
  require(spellings.size() == 1, "--scheme must be one encoding here, got ", spellings.size());
  return choose_encodings(options, spellings.front(), length);
}

ChosenEncoding only_layer(std::vector<ChosenEncoding> chosen) {
  if (chosen.size() != 1) {
    fail("this config has several layer types; choose one with --layer-type: ",
         joined(chosen, ", ", [](const ChosenEncoding& one) -> const std::string& { return one.layer_type; }));
  }
  return std::move(chosen.front());
}

ChosenEncoding choose_encoding(const EncodingOptions& options, std::optional<std::int64_t> length) {
  return only_layer(choose_encodings(options, length));
}

void add_reading(Json& object, const ChosenEncoding& chosen) {
  object["used"] = chosen.used;
  object["defaulted"] = chosen.defaulted;
  object["unknown"] = chosen.unknown;
  add_model_reading(object, chosen.read);
}

void print_note(const ChosenEncoding& chosen) {
  if (!chosen.note.empty()) std::cerr << "locus: note: " << chosen.note << '\n';
}

std::int64_t length_implied_by(const PositionIds& ids) {
  const Position largest = *std::max_element(ids.ids.begin(), ids.ids.end());
  return std::clamp<std::int64_t>(largest, 0, max_position) + 1;
}

PositionIds fit_axes(const Rotation& rotation, PositionIds ids) {
  const bool sections = rotation.axes >= 3;
  const std::int64_t rows = ids.batch * ids.tokens;
  if (sections && ids.axes == 1) {
    const std::vector<Position> text = ids.ids;
    for (ids.axes = 1; ids.axes < 3; ++ids.axes) ids.ids.insert(ids.ids.end(), text.begin(), text.end());
  }
  if (rotation.axes == 4 && ids.axes == 3) {  // ggml's fourth row is 0
    ids.ids.resize(ids.ids.size() + static_cast<std::size_t>(rows), 0);
    ids.axes = 4;
  }
  require(ids.axes == rotation.axes, "this encoding needs ", rotation.axes, " axes of positions, got ", ids.axes);
  return ids;
}

}  // namespace locus::tools
