// SPDX-License-Identifier: Apache-2.0
// Converts RoPE settings between a Hugging Face config.json and GGUF metadata, in the keys that llama.cpp's converter
// writes. It does not convert weights: llama.cpp's `llama` files also have the other pairing (convert_pairing.h).
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

/// The settings in GGUF form.
struct GgufRopeSettings {
  std::string architecture;
  std::vector<GgufEntry> shape;      ///< head counts and widths, which a model's file already has
  std::vector<GgufEntry> entries;    ///< `<architecture>.context_length` and `<architecture>.rope.*`
  std::vector<RopeFactors> factors;  ///< llama3: rope_freqs.weight; longrope: rope_factors_long and _short
  std::vector<std::string> notes;    ///< what has no key in GGUF, or was set to a default
};

/// Converts the settings of a config.json. An empty `architecture` means llama.cpp's name for the config's
/// model_type. Numbers are rounded to float32.
/// Error: rules that GGUF cannot express (dynamic, ntk, proportional), an unknown architecture.
GgufRopeSettings gguf_rope_settings(std::string_view config_text, const std::string& name,
                                    const std::string& architecture = "");

/// The settings in config.json form: an object with rope_theta, rope_scaling and the sizes they depend on.
struct HfRopeSettings {
  std::string json;                ///< the object's text, indented
  std::vector<std::string> notes;  ///< what has no key in config.json, or is not in the file
};

/// Converts the settings of a GGUF file. Numbers get the shortest decimals of the same float32. The parameters of
/// llama3 are recovered from the divisors in rope_freqs.weight and checked against all of them (relative 1e-5).
/// Error: divisors that are not those of llama3.
HfRopeSettings hf_rope_settings(const GgufFile& file);

/// Writes `gguf` with the settings of the config and all other metadata and tensors kept; or, if `gguf` is empty, a
/// file without weights. Returns the notes.
/// Error: a config whose heads are not those of the file.
std::vector<std::string> write_gguf_rope(const std::filesystem::path& config, const std::filesystem::path& gguf,
                                         const std::filesystem::path& output, const std::string& architecture = "");

/// Writes a config.json with the settings of the GGUF file. `base` is a config whose other keys are kept, or empty.
/// Returns the notes.
std::vector<std::string> write_hf_rope(const std::filesystem::path& gguf, const std::filesystem::path& base,
                                       const std::filesystem::path& output);

}  // namespace locus::io
