// SPDX-License-Identifier: Apache-2.0
// The folder of a Hugging Face model.
#pragma once

#include <filesystem>
#include <optional>

#include "locus/io/safetensors.h"

namespace locus::io {

/// What lies where. Only config.json must be there; the getters of the rest throw locus::Error that says what is
/// missing and what was found in its place.
struct HfFolder {
  std::filesystem::path folder;
  std::filesystem::path config;                    ///< config.json
  std::optional<std::filesystem::path> weights;    ///< model.safetensors, else model.safetensors.index.json
  std::optional<std::filesystem::path> tokenizer;  ///< tokenizer.json

  const std::filesystem::path& require_weights() const;
  const std::filesystem::path& require_tokenizer() const;
  SafetensorsModel read_weights() const;
};

/// Throws locus::Error for what is no folder or has no config.json.
HfFolder find_hf_folder(const std::filesystem::path& folder);

}  // namespace locus::io
