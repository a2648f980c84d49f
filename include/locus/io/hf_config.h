// SPDX-License-Identifier: Apache-2.0
// Reads which positional encodings a Hugging Face config.json describes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "locus/error.h"
#include "locus/site.h"
#include "locus/value.h"

namespace locus::io {

/// What the file does not state, or states for several layer types.
struct HfOptions {
  std::optional<std::string> layer_type;  ///< keeps only this layer type; an unknown name is an error
  std::optional<std::string> pairing;     ///< `half` or `interleaved`, instead of what the model type implies
  std::optional<std::int64_t> length;     ///< current sequence length; used by the rules dynamic_ntk and longrope only
  bool any_list_length = false;           ///< accepts LongRoPE lists of a wrong length, for lint
};

/// Another reading of the same file: `reader` uses `arguments` where Locus uses the layer's arguments.
struct AlternativeReading {
  std::string reader;  ///< `transformers up to 4.57`
  std::string scheme;
  Arguments arguments;
  std::string what;  ///< `rope_theta = 100000`
};

/// The encoding of one layer type: a scheme of the registry and its arguments.
struct LayerEncoding {
  std::string layer_type = {};  ///< `full_attention`, `encoder`, `no_rope`, ...; empty if all layers are the same
  std::string scheme = {};
  Arguments arguments = {};
  std::vector<std::string> used = {};       ///< paths of the keys read: `text_config.rope_theta`
  std::vector<std::string> defaulted = {};  ///< `rope_theta = 10000 (transformers' default)`: key first
  std::vector<std::string> unknown = {};    ///< keys about position that are not understood, or `ignored: key (reason)`
  std::optional<std::int64_t> trained_length = {};  ///< the trained length before any extension, if the file states it
  /// Arguments that are tensors in the file, with their shapes; see encoding_json.h.
  std::map<std::string, std::vector<std::int64_t>> tensors = {};
  std::vector<std::int64_t> layers = {};  ///< which layers, from 0 on; empty: all, or unknown
  /// What the model also does but Locus does not, one sentence each. The numbers then differ from the model's.
  std::vector<std::string> not_applied = {};
  std::optional<QueryScale> query_scale = {};         ///< the same as the arguments' temperature, for programs
  std::optional<double> softmax_scale = {};           ///< instead of 1 / sqrt(head_dim), if the model has another
  std::vector<AlternativeReading> alternatives = {};  ///< as other versions and engines read the file
};

/// A part other than the language model: a vision or audio tower, a depth decoder, ...
struct HfPart {
  std::string path;        ///< `vision_config`
  std::string model_type;  ///< as stated, or the default of the composite model
  std::vector<LayerEncoding> layers;
  std::string refusal;  ///< why `layers` is empty
};

struct HfConfig {
  std::string model_type;  ///< of the (nested) text model; empty if not stated
  std::vector<LayerEncoding> layers;
  std::optional<std::string> dtype;
  std::vector<HfPart> parts = {};
};

/// Thrown for a known model that Locus cannot express, or that has no encoding. The message says what the model does.
class UnsupportedModel : public Error {
 public:
  UnsupportedModel(const std::string& message, bool has_attention) : Error(message), has_attention_(has_attention) {}
  bool has_attention() const { return has_attention_; }

 private:
  bool has_attention_;
};

/// Resolves the text of a config.json. RoPE follows from a known model type or from a rope key in the file. `name`
/// starts every message.
/// Error: text that is no JSON object, is larger than 16 MB or deeper than 64 levels, keys about position of a wrong
/// type or value; UnsupportedModel for a model that Locus cannot express.
HfConfig resolve_hf_config(std::string_view json_text, const std::string& name, const HfOptions& options = {});
/// Reads the text of a config.json.
std::string read_hf_config_text(const std::filesystem::path& path);
/// Reads and resolves a config.json.
HfConfig read_hf_config(const std::filesystem::path& path, const HfOptions& options = {});

/// Error: UnsupportedModel if the layer's model does something that Locus does not.
void require_applicable(const LayerEncoding& layer, const std::string& name);

}  // namespace locus::io
