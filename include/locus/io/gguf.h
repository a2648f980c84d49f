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

/// How a tensor's elements are stored, numbered as in the file. All other types of ggml have a name and a size, but
/// are not decoded.
enum class GgufTensorType : std::uint32_t { f32 = 0, f16 = 1, q4_0 = 2, q8_0 = 8, q4_k = 12, q6_k = 14, bf16 = 30 };

std::string_view name_of(GgufTensorType type);  ///< ggml's name: F32, Q4_K, IQ2_XXS

/// A tensor of the file. `shape` has the outermost axis first, as in every other format here; GGUF stores the
/// reverse. `bytes` points into the file (or, for writing, into the caller's memory).
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

/// An open file. Tensors point into it and must not outlive it. Movable, not copyable.
class GgufFile {
 public:
  GgufFile(GgufFile&&) = default;
  GgufFile& operator=(GgufFile&&) = default;

  const std::string& name() const { return name_; }
  std::uint32_t version() const { return version_; }
  std::uint64_t alignment() const { return alignment_; }

  const std::vector<GgufEntry>& metadata() const { return metadata_; }  ///< in the order of the file
  const GgufValue* find(std::string_view key) const;                    ///< null where absent
  /// Return a value; empty if the key is absent.
  /// Error: a value of another type; the message names file, key and type.
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> real(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string> text(std::string_view key) const;
  /// Returns a number, or one per layer: both are common for head counts.
  std::optional<std::vector<std::int64_t>> integers(std::string_view key) const;

  const std::vector<GgufTensor>& tensors() const { return tensors_; }  ///< in the order of the file
  const GgufTensor* find_tensor(std::string_view tensor_name) const;   ///< null where absent
  /// Returns the elements in C order.
  /// Error: types other than the enumerators of GgufTensorType.
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

/// Maps the file and checks all metadata and the tensor directory: names are distinct, and tensors are aligned, lie
/// inside the file and do not overlap.
/// Error: a malformed file; the message names the file and the fault.
/// Cost: reads the metadata; tensors are read on use.
GgufFile read_gguf(const std::filesystem::path& path);
/// Parses a file in memory, which must outlive the result. `name` starts every message.
GgufFile parse_gguf(std::span<const std::byte> file, const std::string& name);

/// Returns the elements of a tensor as float32. `name` starts every message.
std::vector<float> to_floats(const GgufTensor& tensor, const std::string& name);

/// Writes version 3 atomically (atomic_file.h). Aligns data to `general.alignment` if the metadata has it, else to 32
/// bytes. Writes tensors of every type byte for byte.
void write_gguf(const std::filesystem::path& path, std::span<const GgufEntry> metadata,
                std::span<const GgufTensor> tensors);

}  // namespace locus::io
