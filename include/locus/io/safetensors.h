// SPDX-License-Identifier: Apache-2.0
// safetensors: one file, or a sharded model with its index; a hardened reader and an atomic writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locus/io/mapped_file.h"

namespace locus::io {

enum class SafetensorsType : std::uint8_t {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean,
  f8_e4m3,
  f8_e5m2
};

std::string_view name_of(SafetensorsType type);  ///< as in the file: F32, BF16, BOOL
std::size_t size_of(SafetensorsType type);       ///< bytes per element

/// A tensor in C order. `bytes` points into the file (or, for writing, into the caller's memory), little endian and
/// not necessarily aligned.
struct SafetensorsTensor {
  std::string name;
  SafetensorsType type = SafetensorsType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// An open file. Tensors point into it and must not outlive it. Movable, not copyable.
class SafetensorsFile {
 public:
  SafetensorsFile(SafetensorsFile&&) = default;
  SafetensorsFile& operator=(SafetensorsFile&&) = default;

  const std::string& name() const { return name_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  const std::vector<SafetensorsTensor>& tensors() const { return tensors_; }  ///< in the order of their data
  const SafetensorsTensor* find_tensor(std::string_view tensor_name) const;   ///< null where absent
  /// Returns the elements as float32. Integers beyond 2^24 and float64 are rounded.
  /// Error: 8-bit floats.
  std::vector<float> floats(const SafetensorsTensor& tensor) const;

 private:
  friend class SafetensorsParser;
  SafetensorsFile() = default;

  std::string name_;
  std::shared_ptr<const MappedFile> mapping_;
  std::map<std::string, std::string> metadata_;
  std::vector<SafetensorsTensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> index_;
};

/// Maps the file and checks its whole header: the tensors must fill the data without gap or overlap, each with
/// exactly the bytes of its shape.
/// Error: a malformed file; the message names the file and the fault.
/// Cost: reads the header; tensors are read on use.
SafetensorsFile read_safetensors(const std::filesystem::path& path);
/// Parses a file in memory, which must outlive the result. `name` starts every message.
SafetensorsFile parse_safetensors(std::span<const std::byte> file, const std::string& name);

/// A model in one or several files.
class SafetensorsModel {
 public:
  const std::vector<SafetensorsFile>& files() const { return files_; }
  std::vector<std::string> tensor_names() const;                             ///< sorted
  const SafetensorsTensor* find_tensor(std::string_view tensor_name) const;  ///< null where absent
  std::vector<float> floats(const SafetensorsTensor& tensor) const;

 private:
  friend SafetensorsModel read_safetensors_model(const std::filesystem::path& path);
  std::vector<SafetensorsFile> files_;
  std::map<std::string, std::size_t, std::less<>> file_of_;
};

/// Reads a .safetensors file, or an index (.json) with the files next to it.
/// Error: a malformed file, an index with a tensor that is not in the file it names.
SafetensorsModel read_safetensors_model(const std::filesystem::path& path);

/// Returns the file name of each tensor, from the text of an index.
/// Error: text that is no index, file names outside the index's folder.
std::map<std::string, std::string> parse_safetensors_index(std::string_view json_text, const std::string& name);

/// Returns the elements of a tensor as float32. `name` starts every message.
std::vector<float> to_floats(const SafetensorsTensor& tensor, const std::string& name);

/// Writes a file atomically (atomic_file.h). Orders data by element size, so that every tensor is aligned.
void write_safetensors(const std::filesystem::path& path, std::span<const SafetensorsTensor> tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace locus::io
