// SPDX-License-Identifier: Apache-2.0
// The files of a safetensors model that is to be written again elsewhere.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace locus::io {

struct ModelFiles {
  std::filesystem::path folder;
  std::vector<std::string> weights;  ///< one file, or the shards
  std::vector<std::string>
      companions;  ///< what goes with them: the index and, of a whole folder, all but other weights
};

/// `weights`: a .safetensors file or the index (.json) of shards.
ModelFiles model_files(const std::filesystem::path& weights, bool whole_folder);

}  // namespace locus::io
