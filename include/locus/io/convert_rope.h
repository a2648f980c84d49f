// SPDX-License-Identifier: Apache-2.0
// RoPE settings from a Hugging Face config.json to GGUF metadata and back, in the keys that llama.cpp's converter
// writes. Weights are another matter: llama.cpp's `llama` files also have the other pairing (convert_pairing.h).
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "locus/io/gguf.h"

namespace locus::io {

/// A one-dimensional float32 tensor, such as rope_freqs.weight.
struct RopeFactors {
  std::string name;
  std::vector<float> values;
};

/// The settings as GGUF has them.
struct GgufRopeSettings {
  std::string architecture;
  std::vector<GgufEntry> shape;      ///< head counts and widths, which a model's file has already
  std::vector<GgufEntry> entries;    ///< `<architecture>.context_length` and `<architecture>.rope.*`
  std::vector<RopeFactors> factors;  ///< llama3: rope_freqs.weight; longrope: rope_factors_long and _short
  std::vector<std::string> notes;    ///< what has no key in GGUF, or was given a default
};

/// `architecture`: empty takes what llama.cpp calls the config's model_type. Numbers are rounded to float32. Throws
/// Error for rules that GGUF cannot express (dynamic, ntk, proportional) and for an unknown architecture.
GgufRopeSettings gguf_rope_settings(std::string_view config_text, const std::string& name,
                                    const std::string& architecture = "");

/// The settings as config.json has them: an object with rope_theta, rope_scaling and the sizes they depend on.
struct HfRopeSettings {
  std::string json;                ///< the object's text, indented
  std::vector<std::string> notes;  ///< what has no key in config.json, or cannot be told from the file
};

/// Numbers get the shortest decimals that make the same float32. The parameters of llama3 are recovered from the
/// divisors in rope_freqs.weight and checked against all of them (relative 1e-5); other divisors are refused.
HfRopeSettings hf_rope_settings(const GgufFile& file);

/// `gguf` with the settings of the config, all other metadata and tensors kept; or, where `gguf` is empty, a file
/// without weights. Refuses a config whose heads are not those of the file. Returns the notes.
std::vector<std::string> write_gguf_rope(const std::filesystem::path& config, const std::filesystem::path& gguf,
                                         const std::filesystem::path& output, const std::string& architecture = "");

/// config.json with the settings of the GGUF file; `base`: a config whose other keys are kept, or empty.
std::vector<std::string> write_hf_rope(const std::filesystem::path& gguf, const std::filesystem::path& base,
                                       const std::filesystem::path& output);

}  // namespace locus::io
