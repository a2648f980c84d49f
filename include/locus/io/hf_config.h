// SPDX-License-Identifier: Apache-2.0
// Reads which positional encoding a Hugging Face config.json describes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "locus/value.h"

namespace locus::io {

/// What the file does not say, or says for several kinds of layers.
struct HfOptions {
  std::optional<std::string> layer_type;  ///< keep only this kind of layer; an unknown name is an error
  std::optional<std::string> pairing;     ///< `half` or `interleaved`, in place of what the model type implies
  std::optional<std::int64_t> length;     ///< current sequence length; read by rules dynamic_ntk and longrope only
  bool any_list_length = false;           ///< hand over LongRoPE lists of a wrong length, for those who examine them
};

/// The encoding of one kind of layer: a scheme of the registry and arguments for it.
struct LayerEncoding {
  std::string layer_type = {};  ///< `full_attention`, `encoder`, `no_rope`, ...; empty if all layers are alike
  std::string scheme = {};
  Arguments arguments = {};
  std::vector<std::string> used = {};       ///< paths of the keys that were read: `text_config.rope_theta`
  std::vector<std::string> defaulted = {};  ///< `rope_theta = 10000 (transformers' default)`: key first
  std::vector<std::string> unknown = {};  ///< keys about position that were not understood, or `ignored: key (reason)`
  std::optional<std::int64_t> training_length = {};  ///< positions seen before any extension, where the file tells
  /// Arguments that are tensors of the file, with their shapes; see encoding_json.h.
  std::map<std::string, std::vector<std::int64_t>> tensors = {};
};

struct HfConfig {
  std::string model_type;  ///< of the (nested) text model; empty if the file does not say
  std::vector<LayerEncoding> layers;
  std::optional<std::string> dtype;
};

/// Resolves the text of a config.json; `name` starts every message. Throws locus::Error for what is no JSON object, is
/// larger than 16 MB or deeper than 64 levels, and for keys about position of a wrong type or value.
HfConfig resolve_hf_config(std::string_view json_text, const std::string& name, const HfOptions& options = {});
/// The text of a config.json.
std::string read_hf_config_text(const std::filesystem::path& path);
/// Both in one.
HfConfig read_hf_config(const std::filesystem::path& path, const HfOptions& options = {});

}  // namespace locus::io
