// SPDX-License-Identifier: Apache-2.0
// What a file or folder is, by its content. Names and extensions decide nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace locus::io {

enum class FileKind : std::uint8_t {
  gguf,
  safetensors,
  safetensors_index,  ///< JSON that maps tensors to shards
  json,               ///< any other JSON object: config.json, tokenizer.json
  npy,
  npz,
  llama2c,    ///< a llama2.c checkpoint, by the seven sizes it begins with
  hf_folder,  ///< a folder that holds config.json
  folder,     ///< any other folder
  unknown
};

/// "a GGUF file", "a model folder", ...: for messages.
std::string_view name_of(FileKind kind);

/// Reads the first bytes, and JSON whole. Throws locus::Error where the path does not exist or cannot be read.
FileKind sniff(const std::filesystem::path& path);

/// The file that describes a model: `path` itself, a folder's config.json, or the only GGUF file or llama2.c checkpoint
/// of a folder without one. Throws locus::Error that names what the folder holds otherwise.
std::filesystem::path find_model_file(const std::filesystem::path& path);

}  // namespace locus::io
