// SPDX-License-Identifier: Apache-2.0
// Recognises a file or folder by its content. Names and extensions do not matter.
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
  llama2c,    ///< a llama2.c checkpoint, by its seven leading sizes
  hf_folder,  ///< a folder with a config.json
  folder,     ///< any other folder
  unknown
};

/// Returns "a GGUF file", "a model folder", ..., for messages.
std::string_view name_of(FileKind kind);

/// Returns the kind of a file or folder.
/// Error: a path that does not exist or cannot be read.
/// Cost: reads the first bytes; JSON is read whole.
FileKind sniff(const std::filesystem::path& path);

/// Returns the kind of a file with a model's settings: GGUF, JSON, or unknown, which the reader of JSON refuses with the
/// reason.
/// Error: any other kind, such as weights alone.
FileKind sniff_settings(const std::filesystem::path& path);

/// Returns the file that describes a model: `path` itself, a folder's config.json, or the only GGUF file or llama2.c
/// checkpoint of a folder without one.
/// Error: any other folder; the message names what it holds.
std::filesystem::path find_model_file(const std::filesystem::path& path);

}  // namespace locus::io
