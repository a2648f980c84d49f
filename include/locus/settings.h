// SPDX-License-Identifier: Apache-2.0
// Parses encodings as users write them: name=value settings of a scheme, and whole encodings in one word, such as
// `rope:rule=yarn,factor=2`, `yarn:2`, `alibi` and `@config.json`.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locus/registry.h"
#include "locus/value.h"

namespace locus {

/// A name and its text: `head_dim` and `128`.
struct Setting {
  std::string name;
  std::string text;
};

/// Reads the tensor of a setting.
using TensorReader = std::function<Tensor(const Setting& setting)>;

/// Splits `name=value`.
/// Error: any other text; the message starts with `what` ("--set").
Setting parse_setting(std::string_view what, std::string_view text);
/// Splits several settings.
/// Error: as parse_setting(), and a name given twice.
std::vector<Setting> parse_setting_list(std::string_view what, std::span<const std::string> texts);

/// Parses each text as its parameter's kind (parse_value). A setting `rule`, in any position, adds the parameters of
/// that RoPE rule. Tensors come from `tensor_of`.
/// Error: unknown names, names given twice, texts that do not parse.
Arguments parse_settings(const Scheme& scheme, std::span<const Setting> settings, const TensorReader& tensor_of);

/// One encoding, split into its name and its settings.
struct Spelling {
  std::string text;               ///< as written
  std::string config;             ///< the file or folder of `@config.json`; empty otherwise
  std::string scheme;             ///< empty if there is a config
  std::vector<Setting> settings;  ///< as written; a bare rule name comes first, as `rule`

  /// Returns the text of a setting; empty if it is absent.
  std::string_view setting(std::string_view name) const;
};

/// Parses SCHEME[:NAME=VALUE,...], RULE[:FACTOR][,NAME=VALUE,...] for RoPE under a rule, or \@CONFIG. A comma without
/// a following NAME= belongs to a list (`mrope_section=16,24,24`).
/// Error: unknown names, settings that are not name=value.
Spelling parse_spelling(std::string_view text);

/// Splits a list of spellings at `;`. A comma also separates them before a known name, and everywhere in a list
/// without settings: `none,linear:2,yarn:2`.
std::vector<std::string> split_spellings(std::string_view text);

/// Error: a name that is neither a scheme nor a rule; the message has the nearest known name.
void require_encoding_name(std::string_view name);

/// Returns the arguments of a spelling.
/// Error: a spelling with a config, and tensors without `tensor_of`.
Arguments arguments_of(const Spelling& spelling, const TensorReader& tensor_of = {});

}  // namespace locus
