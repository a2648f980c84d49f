// SPDX-License-Identifier: Apache-2.0
// Memory-mapped files: large model files are paged in on use, never copied.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace locus::io {

/// Maps a regular file, read only, for the lifetime of the object. Replacing the file by a rename is safe. If another
/// program truncates it in place, this one is killed, as with every mapping.
/// Error: a path that is not a readable regular file.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }
  const std::string& name() const { return name_; }  ///< the path, as messages show it

 private:
  std::string name_;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace locus::io
