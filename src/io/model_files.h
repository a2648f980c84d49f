// SPDX-License-Identifier: Apache-2.0
// The files of a safetensors model that is to be written to another place.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace locus::io {

struct ModelFiles {
  std::filesystem::path folder;
  std::vector<std::string> weights;     ///< one file, or the shards
  std::vector<std::string> companions;  ///< the index and, for a whole folder, all files but other weights
};

/// `weights`: a .safetensors file or the index (.json) of shards.
ModelFiles model_files(const std::filesystem::path& weights, bool whole_folder);

}  // namespace locus::io
