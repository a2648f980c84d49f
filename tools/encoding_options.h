// SPDX-License-Identifier: Apache-2.0
// The options that name an encoding: a scheme with settings, or a model's config.json.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "locus/encoding.h"
#include "locus/io/hf_config.h"
#include "locus/settings.h"

namespace locus::tools {

struct EncodingOptions {
  std::vector<std::string> schemes;  ///< as given: each may be a list of spellings
  std::vector<std::string> settings;
  std::string config;
  std::string layer_type;
  std::string pairing;
  std::string profile;
  std::optional<std::int64_t> seq_len;
  bool incomplete = false;  ///< show models that do something which Locus does not apply
  /// Not an option: a learned table that is not given is made for so many positions only, which are all that is read.
  std::optional<std::int64_t> positions_read = {};
};

/// Adds --scheme, --set, --config, --layer-type, --pairing, --profile and --seq-len.
void add_encoding_options(CLI::App& command, EncodingOptions& options);

/// The encodings that --scheme, --set and --config name, not yet made. None where both are absent.
std::vector<Spelling> spellings_of(const EncodingOptions& options);

/// One encoding, and what was read, defaulted or not understood on the way to it.
struct ChosenEncoding {
  std::string layer_type;
  Encoding encoding;
  std::vector<std::string> used;
  std::vector<std::string> defaulted;
  std::vector<std::string> unknown;
  std::optional<std::int64_t> training_length;
  std::string note = {};                           ///< worth saying once the command has succeeded
  std::optional<std::int64_t> max_positions = {};  ///< of a learned table that was made for fewer, see positions_read
  io::LayerEncoding read = {};                     ///< from a config: all that was read
};

/// Whether a spelling sets this parameter.
bool is_set(const Spelling& spelling, std::string_view name);
/// The spelling with what its scheme and rule require and it does not set, as in their examples.
Spelling with_required(Spelling spelling);

/// The encodings of one spelling: several where a config has several kinds of layers and none was chosen. `length` is
/// the length that the input implies, for rules that depend on it, where --seq-len is absent; --seq-len shorter than it
/// leaves a note in the first. Models that do something which Locus does not apply are an error unless
/// `options.incomplete`.
std::vector<ChosenEncoding> choose_encodings(const EncodingOptions& options, const Spelling& spelling,
                                             std::optional<std::int64_t> length);
/// The same for the only spelling among the options; Error where there is none or another one.
std::vector<ChosenEncoding> choose_encodings(const EncodingOptions& options, std::optional<std::int64_t> length);

/// The only one; Error naming the kinds of layers where there are several.
ChosenEncoding only_layer(std::vector<ChosenEncoding> chosen);
/// The encoding of the only spelling and the only kind of layer.
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
