// SPDX-License-Identifier: Apache-2.0
// Encodings as users write them: name=value settings of a scheme, and whole encodings in one word, such as
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

/// `head_dim` and `128`.
struct Setting {
  std::string name;
  std::string text;
};

/// Reads the tensor that a setting names.
using TensorReader = std::function<Tensor(const Setting& setting)>;

/// The parts of `name=value`; Error that starts with `what` ("--set") for anything else.
Setting parse_setting(std::string_view what, std::string_view text);
/// Several of them; Error where a name comes twice.
std::vector<Setting> parse_setting_list(std::string_view what, std::span<const std::string> texts);

/// Parses each text as the kind of its parameter (parse_value); the parameters of a RoPE rule are known once `rule` is
/// among the settings, wherever it stands. Tensors come from `tensor_of`. Error for unknown names and names given
/// twice.
Arguments parse_settings(const Scheme& scheme, std::span<const Setting> settings, const TensorReader& tensor_of);

/// One encoding, split into names and texts.
struct Spelling {
  std::string text;               ///< as written
  std::string config;             ///< of `@config.json`: the file or folder; empty otherwise
  std::string scheme;             ///< empty where there is a config
  std::vector<Setting> settings;  ///< as written; a rule that stood alone comes first, as `rule`

  /// The text of a setting; empty where it is not among them.
  std::string_view setting(std::string_view name) const;
};

/// SCHEME[:NAME=VALUE,...], RULE[:FACTOR][,NAME=VALUE,...] for RoPE under a rule, or \@CONFIG. A comma that no NAME=
/// follows belongs to a list (`mrope_section=16,24,24`). Error for unknown names, and for what is no name=value.
Spelling parse_spelling(std::string_view text);

/// Spellings separated by `;`. Commas separate them too where a known name follows, and everywhere in a list without
/// settings: `none,linear:2,yarn:2`.
std::vector<std::string> split_spellings(std::string_view text);

/// Error with the nearest known name, unless `name` is that of a scheme or a rule.
void require_encoding_name(std::string_view name);

/// The values of a spelling without a config. Without `tensor_of`, tensors are refused.
Arguments arguments_of(const Spelling& spelling, const TensorReader& tensor_of = {});

}  // namespace locus
