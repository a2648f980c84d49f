// SPDX-License-Identifier: Apache-2.0
// A file as memory: large model files are read where they lie, page by page, and never copied whole.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace locus::io {

/// Maps a regular file, read only, for as long as the object lives; anything else gives locus::Error. Replacing the
/// file by a rename is safe; a program that truncates it in place ends this one, as with every mapping.
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
