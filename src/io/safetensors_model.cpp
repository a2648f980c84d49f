// SPDX-License-Identifier: Apache-2.0
// The index of a sharded model is {"metadata": {...}, "weight_map": {"tensor": "model-00001-of-00002.safetensors"}}.
#include <algorithm>

#include "locus/io/safetensors.h"
#include "parse/byte_reader.h"
#include "parse/strict_json.h"

namespace locus::io {
namespace {

/// Shards are next to the index; a name such as ../../x could read any file.
bool is_plain_file_name(std::string_view file) {
  const bool has_odd_character =
      std::any_of(file.begin(), file.end(), [](char c) { return c == '/' || c == '\\' || c == '\0'; });
  return !file.empty() && file != "." && file != ".." && !has_odd_character;
}

}  // namespace

std::map<std::string, std::string> parse_safetensors_index(std::string_view json_text, const std::string& name) {
  const nlohmann::json root = parse_strict_json(json_text, name);
  const auto map = root.find("weight_map");
  require(map != root.end() && map->is_object(), name, ": weight_map must be an object of tensor and file names");
  require(!map->empty(), name, ": weight_map must name at least one tensor");
  std::map<std::string, std::string> files;
  for (const auto& item : map->items()) {
    require(
        item.value().is_string(), name, ": weight_map.", [&] { return shown(item.key()); },
        " must be a file name, got ", item.value().type_name());
    const auto& file = item.value().get_ref<const std::string&>();
    require(
        is_plain_file_name(file), name, ": weight_map.", [&] { return shown(item.key()); },
        " must name a file next to the index, got ", [&] { return shown(file); });
    files.emplace(item.key(), file);
  }
  return files;
}

SafetensorsModel read_safetensors_model(const std::filesystem::path& path) {
  SafetensorsModel model;
  if (path.extension() != ".json") {
    model.files_.push_back(read_safetensors(path));
    for (const SafetensorsTensor& tensor : model.files_[0].tensors()) model.file_of_.emplace(tensor.name, 0);
    return model;
  }
  const MappedFile index(path);
  std::map<std::string, std::size_t> opened;
  for (const auto& [tensor, file] : parse_safetensors_index(text_of(index.bytes()), index.name())) {
    const auto [place, is_new] = opened.emplace(file, model.files_.size());
    if (is_new) model.files_.push_back(read_safetensors(path.parent_path() / file));
    if (model.files_[place->second].find_tensor(tensor) == nullptr) {
      fail(index.name(), ": tensor ", shown(tensor), " should be in ", shown(file), ", but that file does not have it");
    }
    model.file_of_.emplace(tensor, place->second);
  }
  return model;
}

std::vector<std::string> SafetensorsModel::tensor_names() const {
  std::vector<std::string> names;
  for (const auto& [tensor, file] : file_of_) names.push_back(tensor);
  return names;
}

const SafetensorsTensor* SafetensorsModel::find_tensor(std::string_view tensor_name) const {
  const auto found = file_of_.find(tensor_name);
  return found == file_of_.end() ? nullptr : files_[found->second].find_tensor(tensor_name);
}

std::vector<float> SafetensorsModel::floats(const SafetensorsTensor& tensor) const {
  const auto found = file_of_.find(tensor.name);
  return to_floats(tensor, found == file_of_.end() ? "model" : files_[found->second].name());
}

}  // namespace locus::io
