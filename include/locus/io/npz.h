// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz: a zip archive of .npy files; a hardened reader.
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
#include "locus/io/npy.h"

namespace locus::io {

/// An open archive. Stored entries are always read, deflated ones (numpy.savez_compressed) where Locus was built with
/// zlib; other methods and encryption are refused. 64-bit sizes are understood.
class NpzFile {
 public:
  const std::string& name() const { return name_; }
  std::vector<std::string> array_names() const;  ///< sorted, without `.npy`
  bool contains(std::string_view array_name) const { return entries_.contains(array_name); }
  /// Decompresses where needed, checks the CRC and parses. Throws locus::Error naming file, array and fault.
  NpyArray read(std::string_view array_name) const;

 private:
  friend class NpzParser;
  struct Entry {
    bool deflated = false;
    std::uint32_t crc = 0;
    std::uint64_t size = 0;  ///< when decompressed
    std::span<const std::byte> bytes;
  };

  std::string name_;
  std::shared_ptr<const MappedFile> mapping_;
  std::map<std::string, Entry, std::less<>> entries_;
};

/// Was Locus built with zlib?
bool npz_reads_deflated();

/// Maps the file and checks the archive's directory; nothing is decompressed yet.
NpzFile read_npz(const std::filesystem::path& path);
/// The same from memory, which must outlive the result; `name` appears in messages.
NpzFile parse_npz(std::span<const std::byte> file, const std::string& name);

}  // namespace locus::io
