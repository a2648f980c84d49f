// SPDX-License-Identifier: Apache-2.0
// GGUF files, version 2 and 3, little endian: a hardened reader and an atomic writer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locus/io/gguf_value.h"
#include "locus/io/mapped_file.h"

namespace locus::io {

/// How a tensor's elements are stored, numbered as in the file. Beside these, every other type of ggml is listed with
/// its name and size, but not decoded.
enum class GgufTensorType : std::uint32_t { f32 = 0, f16 = 1, q4_0 = 2, q8_0 = 8, q4_k = 12, q6_k = 14, bf16 = 30 };

std::string_view name_of(GgufTensorType type);  ///< ggml's name: F32, Q4_K, IQ2_XXS

/// A tensor's place in the file. `shape` has the outermost axis first, as in every other format here; GGUF stores it
/// the other way round. `bytes` points into the file (or, for writing, wherever the caller keeps them).
struct GgufTensor {
  std::string name;
  GgufTensorType type = GgufTensorType::f32;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

struct GgufEntry {
  std::string key;
  GgufValue value;
};

/// An open file. Tensors point into it and must not outlive it. It can be moved, not copied.
class GgufFile {
 public:
  GgufFile(GgufFile&&) = default;
  GgufFile& operator=(GgufFile&&) = default;

  const std::string& name() const { return name_; }
  std::uint32_t version() const { return version_; }
  std::uint64_t alignment() const { return alignment_; }

  const std::vector<GgufEntry>& metadata() const { return metadata_; }  ///< in the order of the file
  const GgufValue* find(std::string_view key) const;                    ///< null where absent
  /// Empty where the key is absent; locus::Error names file, key and type where the value is of another type.
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> real(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  /// A number, or one per layer: both are common for head counts.
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) const;

  const std::vector<GgufTensor>& tensors() const { return tensors_; }  ///< in the order of the file
  const GgufTensor* find_tensor(std::string_view tensor_name) const;   ///< null where absent
  /// The elements in C order. Types other than the enumerators of GgufTensorType are refused.
  std::vector<float> floats(const GgufTensor& tensor) const;

 private:
  friend class GgufParser;
  GgufFile() = default;
  std::string subject(std::string_view key) const;

  std::string name_;
  std::shared_ptr<const MappedFile> mapping_;
  std::uint32_t version_ = 3;
  std::uint64_t alignment_ = 32;
  std::vector<GgufEntry> metadata_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> key_index_, tensor_index_;
};

/// Maps the file and checks all of its metadata and its tensor directory: names differ, shapes and offsets are aligned,
/// lie inside the file and do not overlap. Every malformed file gives locus::Error naming the file and the fault.
GgufFile read_gguf(const std::filesystem::path& path);
/// The same from memory, which must outlive the result; `name` appears in messages.
GgufFile parse_gguf(std::span<const std::byte> file, const std::string& name);

/// Elements of a tensor as float32; `name` starts messages.
std::vector<float> to_floats(const GgufTensor& tensor, const std::string& name);

/// Writes version 3 beside `path` and renames it into place. `general.alignment` is obeyed where it is among the
/// metadata, else data is aligned to 32 bytes. Tensors of every type are written as their bytes are.
void write_gguf(const std::filesystem::path& path, std::span<const GgufEntry> metadata,
                std::span<const GgufTensor> tensors);

}  // namespace locus::io
