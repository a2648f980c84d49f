// SPDX-License-Identifier: Apache-2.0
// Finds the files in the folder of a Hugging Face model.
#pragma once

#include <filesystem>
#include <optional>

#include "locus/io/safetensors.h"

namespace locus::io {

/// The files of the folder. Only config.json is required.
/// Error (getters): a missing file; the message says what was found instead.
struct HfFolder {
  std::filesystem::path folder;
  std::filesystem::path config;                    ///< config.json
  std::optional<std::filesystem::path> weights;    ///< model.safetensors, else model.safetensors.index.json
  std::optional<std::filesystem::path> tokenizer;  ///< tokenizer.json

  const std::filesystem::path& require_weights() const;
  const std::filesystem::path& require_tokenizer() const;
  SafetensorsModel read_weights() const;
};

/// Lists the files of a folder.
/// Error: a path that is no folder or has no config.json.
HfFolder find_hf_folder(const std::filesystem::path& folder);

}  // namespace locus::io
