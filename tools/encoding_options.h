// SPDX-License-Identifier: Apache-2.0
// The options that choose an encoding: a scheme with settings, or a model's config.json.
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
  bool incomplete = false;  ///< accept models that do something that Locus does not apply
  /// Not an option: the number of positions that the command reads. A learned table that is not given is made that
  /// long.
  std::optional<std::int64_t> positions_read = {};
};

/// Adds --scheme, --set, --config, --layer-type, --pairing, --profile and --seq-len.
void add_encoding_options(CLI::App& command, EncodingOptions& options);

/// Returns the spellings of --scheme, --set and --config; none if both are absent.
std::vector<Spelling> spellings_of(const EncodingOptions& options);

/// One encoding, and what was read, defaulted or not understood.
struct ChosenEncoding {
  std::string layer_type;
  Encoding encoding;
  std::vector<std::string> used;
  std::vector<std::string> defaulted;
  std::vector<std::string> unknown;
  std::optional<std::int64_t> trained_length;
  std::string note = {};                           ///< printed after the command has succeeded
  std::optional<std::int64_t> max_positions = {};  ///< of a learned table that was made shorter, see positions_read
  io::LayerEncoding read = {};                     ///< from a config: everything that was read
};

/// Whether a spelling sets this parameter.
bool is_set(const Spelling& spelling, std::string_view name);
/// Returns the spelling with all required parameters; missing ones are those of the examples of its scheme and rule.
Spelling with_required(Spelling spelling);

/// Returns the encodings of one spelling: several if a config has several layer types and none was chosen. `length`
/// is the length that the input implies, for rules that depend on it, if --seq-len is absent; a shorter --seq-len
/// adds a note to the first. Error: models that do something that Locus does not apply, unless `options.incomplete`.
std::vector<ChosenEncoding> choose_encodings(const EncodingOptions& options, const Spelling& spelling,
                                             std::optional<std::int64_t> length);
/// The same for the only spelling of the options. Error: no spelling, or several.
std::vector<ChosenEncoding> choose_encodings(const EncodingOptions& options, std::optional<std::int64_t> length);

/// Returns the only encoding. Error: several layer types; the message names them.
ChosenEncoding only_layer(std::vector<ChosenEncoding> chosen);
/// Returns the encoding of the only spelling and the only layer type.
ChosenEncoding choose_encoding(const EncodingOptions& options, std::optional<std::int64_t> length);

/// Adds `used`, `defaulted` and `unknown`.
void add_reading(Json& object, const ChosenEncoding& chosen);

/// Prints the note, if there is one, on standard error. Call it last: refused input gets a single line.
void print_note(const ChosenEncoding& chosen);

/// Returns the largest id + 1.
std::int64_t length_implied_by(const PositionIds& ids);

/// Returns ids with as many axes as the rotation needs: M-RoPE uses the one axis of text for time, height and width.
PositionIds fit_axes(const Rotation& rotation, PositionIds ids);

}  // namespace locus::tools
