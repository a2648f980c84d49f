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
#include "locus/value.h"

namespace locus::io {

/// What the file does not say, or says for several kinds of layers.
struct HfOptions {
  std::optional<std::string> layer_type;  ///< keep only this kind of layer; an unknown name is an error
  std::optional<std::string> pairing;     ///< `half` or `interleaved`, in place of what the model type implies
  std::optional<std::int64_t> length;     ///< current sequence length; read by rules dynamic_ntk and longrope only
  bool any_list_length = false;           ///< hand over LongRoPE lists of a wrong length, for those who examine them
};

/// Queries are multiplied by 1 + beta ln(1 + floor((position + shift) / length)); keys are not.
struct QueryScale {
  double beta = 0;
  std::int64_t length = 1, shift = 0;

  double at(std::int64_t position) const;
};

/// Another reading of the same file: `reader` takes `arguments` where this project takes the layer's own.
struct AlternativeReading {
  std::string reader;  ///< `transformers up to 4.57`
  std::string scheme;
  Arguments arguments;
  std::string what;  ///< `rope_theta = 100000`
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
  std::vector<std::int64_t> layers = {};  ///< which layers, from 0 on; empty: all, or the file does not tell
  /// What the model also does and Locus does not, a sentence each. Its numbers are not the model's then.
  std::vector<std::string> not_applied = {};
  std::optional<QueryScale> query_scale = {};         ///< one of `not_applied`, for programs
  std::optional<double> softmax_scale = {};           ///< in place of 1 / sqrt(head_dim), where the model has another
  std::vector<AlternativeReading> alternatives = {};  ///< readings by other versions and engines
};

/// A part beside the language model: a vision or audio tower, a depth decoder, ...
struct HfPart {
  std::string path;        ///< `vision_config`
  std::string model_type;  ///< as stated, or the default of the model that it is a part of
  std::vector<LayerEncoding> layers;
  std::string refusal;  ///< why there are none
};

struct HfConfig {
  std::string model_type;  ///< of the (nested) text model; empty if the file does not say
  std::vector<LayerEncoding> layers;
  std::optional<std::string> dtype;
  std::vector<HfPart> parts = {};
};

/// A model that was recognised and that Locus cannot express, or that has nothing to express. The message says what it
/// does.
class UnsupportedModel : public Error {
 public:
  UnsupportedModel(const std::string& message, bool has_attention) : Error(message), has_attention_(has_attention) {}
  bool has_attention() const { return has_attention_; }

 private:
  bool has_attention_;
};

/// Resolves the text of a config.json; `name` starts every message. Throws locus::Error for what is no JSON object, is
/// larger than 16 MB or deeper than 64 levels, and for keys about position of a wrong type or value; UnsupportedModel
/// for a model that Locus does not express. RoPE is concluded from a known model type or from a rope key in the file.
HfConfig resolve_hf_config(std::string_view json_text, const std::string& name, const HfOptions& options = {});
/// The text of a config.json.
std::string read_hf_config_text(const std::filesystem::path& path);
/// Both in one.
HfConfig read_hf_config(const std::filesystem::path& path, const HfOptions& options = {});

/// Throws UnsupportedModel with what the layer's model does and Locus does not, if anything.
void require_applicable(const LayerEncoding& layer, const std::string& name);

}  // namespace locus::io
