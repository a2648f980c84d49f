// SPDX-License-Identifier: Apache-2.0
#include "encoding_options.h"

#include <algorithm>
#include <iostream>

#include "locus/error.h"
#include "locus/io/model_encoding.h"
#include "locus/io/npy.h"
#include "locus/settings.h"
#include "model_reading.h"
#include "position_list.h"

namespace locus::tools {
namespace {

std::vector<Setting> split_settings(const std::vector<std::string>& settings) {
  std::vector<Setting> result;
  for (const std::string& setting : settings) {
    const std::size_t equals = setting.find('=');
    require(equals != std::string::npos && equals > 0, "--set must be name=value, got ", setting);
    const std::string name = setting.substr(0, equals);
    for (const Setting& other : result) require(other.name != name, "--set ", name, " is given twice");
    result.push_back({name, setting.substr(equals + 1)});
  }
  return result;
}

Tensor read_tensor(const std::string& path) {
  const io::NpyArray array = io::read_npy(path);
  return {.shape = array.shape, .data = io::to_floats(array, path)};
}

Arguments read_settings(const Scheme& scheme, const std::vector<std::string>& texts) {
  const auto read = [](const Setting& setting) { return read_tensor(setting.text); };
  return parse_settings(scheme, split_settings(texts), read);
}

bool takes(const Scheme& scheme, const Arguments& arguments, std::string_view name) {
  const std::vector<Parameter> parameters = parameters_of(scheme, arguments);
  return std::any_of(parameters.begin(), parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

ChosenEncoding from_settings(const EncodingOptions& options, std::optional<std::int64_t> length) {
  const Scheme& scheme = find_scheme(options.scheme);
  require(options.layer_type.empty(), "--layer-type needs --config");
  Arguments arguments = read_settings(scheme, options.settings);
  if (!options.pairing.empty()) arguments.set("pairing", options.pairing);
  if (!options.profile.empty()) arguments.set("profile", options.profile);
  if (length && !arguments.has("length") && takes(scheme, arguments, "length")) arguments.set("length", *length);
  ChosenEncoding chosen{.layer_type = "",
                        .encoding = Encoding(scheme.name, arguments),
                        .used = {},
                        .defaulted = {},
                        .unknown = {},
                        .training_length = {},
                        .note = {},
                        .read = {}};
  for (const auto& [name, value] : chosen.encoding.arguments().all()) {
    if (!arguments.has(name)) chosen.defaulted.push_back(name + " = " + to_text(value));
  }
  for (const char* name : {"original_length", "max_length"}) {
    if (!chosen.training_length) chosen.training_length = chosen.encoding.arguments().maybe_integer(name);
  }
  return chosen;
}

std::vector<ChosenEncoding> from_config(const EncodingOptions& options, std::optional<std::int64_t> length,
                                        bool incomplete) {
  std::vector<ChosenEncoding> result;
  const io::ModelOptions wanted{
      options.layer_type, options.pairing, options.profile, length, split_settings(options.settings), incomplete};
  for (const io::ModelEncoding& one : io::model_encodings(options.config, wanted)) {
    result.push_back({one.read.layer_type, one.encoding, one.read.used, one.read.defaulted, one.read.unknown,
                      one.read.training_length, "", one.read});
  }
  return result;
}

}  // namespace

void add_encoding_options(CLI::App& command, EncodingOptions& options) {
  command.add_option("--scheme", options.scheme, "A scheme of `locus list`");
  command
      .add_option(
          "--set", options.settings,
          "name=value, a parameter of the scheme (tensors: a .npy file), or in place of what --config says; repeatable")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->expected(1, 1000)
      ->allow_extra_args(false);
  command.add_option("--config", options.config, "A Hugging Face config.json (or a .gguf file), in place of --scheme");
  command.add_option("--layer-type", options.layer_type, "With --config: one kind of layer, e.g. sliding_attention");
  command.add_option("--pairing", options.pairing, "half or interleaved, in place of what the model type implies")
      ->check(CLI::IsMember({"half", "interleaved"}));
  command.add_option("--profile", options.profile, "Whose float32 arithmetic to reproduce: exact, hf, ggml or vllm")
      ->check(CLI::IsMember({"exact", "hf", "ggml", "vllm"}));
  add_integer(command, "--seq-len", options.seq_len, "Length of the sequence, for rules that depend on it");
}

std::vector<ChosenEncoding> choose_encodings(const EncodingOptions& options, std::optional<std::int64_t> length,
                                             bool incomplete) {
  require(options.scheme.empty() != options.config.empty(), "give either --scheme or --config");
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
  if (options.config.empty()) {
    chosen.push_back(from_settings(options, length));
  } else {
    chosen = from_config(options, length, incomplete);
  }
  chosen.front().note = note;
  return chosen;
}

ChosenEncoding choose_encoding(const EncodingOptions& options, std::optional<std::int64_t> length) {
  std::vector<ChosenEncoding> chosen = choose_encodings(options, length);
  if (chosen.size() != 1) {
    std::string names;
    for (const ChosenEncoding& one : chosen) names += (names.empty() ? "" : ", ") + one.layer_type;
    fail("this config has several kinds of layers; choose one with --layer-type: ", names);
  }
  return std::move(chosen.front());
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
