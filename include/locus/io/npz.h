// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz files, zip archives of .npy files: a hardened reader.
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

/// An open archive. Reads stored entries, and deflated ones (numpy.savez_compressed) if Locus was built with zlib.
/// Supports 64-bit sizes.
/// Error: other compression methods, encryption.
class NpzFile {
 public:
  const std::string& name() const { return name_; }
  std::vector<std::string> array_names() const;  ///< sorted, without `.npy`
  bool contains(std::string_view array_name) const { return entries_.contains(array_name); }
  /// Decompresses if needed, checks the CRC and parses.
  /// Error: an unknown array, a malformed one; the message names file, array and fault.
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

/// Returns whether Locus was built with zlib.
bool npz_reads_deflated();

/// Maps the file and checks the archive's directory.
/// Error: a malformed directory.
/// Cost: reads the directory; arrays are decompressed on use.
NpzFile read_npz(const std::filesystem::path& path);
/// Parses an archive in memory, which must outlive the result. `name` starts every message.
NpzFile parse_npz(std::span<const std::byte> file, const std::string& name);

}  // namespace locus::io
