// SPDX-License-Identifier: Apache-2.0
#include "io/model_files.h"

#include <algorithm>

#include "locus/io/mapped_file.h"
#include "locus/io/safetensors.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;

/// Returns the file names of a sharded model, each once.
std::vector<std::string> shards_of(const fs::path& index_path) {
  const MappedFile index(index_path);
  std::vector<std::string> shards;
  for (const auto& [tensor, file] : parse_safetensors_index(text_of(index.bytes()), index.name())) {
    shards.push_back(file);
  }
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  return shards;
}

/// True for other forms of the weights, which would contradict the converted ones.
bool is_weights(const fs::path& file) {
  const std::string ending = file.extension().string();
  const auto endings = {".safetensors", ".gguf", ".bin", ".pt", ".pth", ".h5", ".msgpack", ".onnx"};
  return std::find(endings.begin(), endings.end(), ending) != endings.end();
}

}  // namespace

ModelFiles model_files(const std::filesystem::path& weights, bool whole_folder) {
  ModelFiles model{weights.parent_path().empty() ? fs::path(".") : weights.parent_path(), {}, {}};
  if (weights.extension() == ".json") {
    model.weights = shards_of(weights);
    model.companions.push_back(weights.filename().string());
  } else {
    model.weights.push_back(weights.filename().string());
  }
  if (!whole_folder) return model;
  model.companions.clear();
  for (const auto& entry : fs::directory_iterator(model.folder)) {
    if (entry.is_regular_file() && !is_weights(entry.path())) {
      model.companions.push_back(entry.path().filename().string());
    }
  }
  std::sort(model.companions.begin(), model.companions.end());
  return model;
}

}  // namespace locus::io
