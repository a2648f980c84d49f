// SPDX-License-Identifier: Apache-2.0
// How commands are told which encoding is meant: a scheme with settings, or a model's config.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "locus/encoding.h"
#include "locus/io/hf_config.h"

namespace locus::tools {

struct EncodingOptions {
  std::string scheme;
  std::vector<std::string> settings;
  std::string config;
  std::string layer_type;
  std::string pairing;
  std::string profile;
  std::optional<std::int64_t> seq_len;
};

/// Adds --scheme, --set, --config, --layer-type, --pairing, --profile and --seq-len.
void add_encoding_options(CLI::App& command, EncodingOptions& options);

/// One encoding, and what was read, defaulted or not understood on the way to it.
struct ChosenEncoding {
  std::string layer_type;
  Encoding encoding;
  std::vector<std::string> used;
  std::vector<std::string> defaulted;
  std::vector<std::string> unknown;
  std::optional<std::int64_t> training_length;
  std::string note = {};        ///< worth saying once the command has succeeded
  io::LayerEncoding read = {};  ///< from a config: all that was read
};

/// The encodings meant: several where a config has several kinds of layers and none was chosen. `length` is the length
/// that the input implies, for rules that depend on it, where --seq-len is absent; --seq-len shorter than it leaves a
/// note in the first. Models that do something which Locus does not apply are an error unless `incomplete`.
std::vector<ChosenEncoding> choose_encodings(const EncodingOptions& options, std::optional<std::int64_t> length,
                                             bool incomplete = false);

/// The same where exactly one is needed; Error naming the kinds of layers otherwise.
ChosenEncoding choose_encoding(const EncodingOptions& options, std::optional<std::int64_t> length);

/// Adds `used`, `defaulted` and `unknown`.
void add_reading(Json& object, const ChosenEncoding& chosen);

/// The note, if there is one, on standard error. Last of all: refused input gets a single line.
void print_note(const ChosenEncoding& chosen);

/// The largest id + 1.
std::int64_t length_implied_by(const PositionIds& ids);

/// Ids with as many axes as the rotation needs: text has one, which M-RoPE takes for time, height and width alike.
PositionIds fit_axes(const Rotation& rotation, PositionIds ids);

}  // namespace locus::tools
