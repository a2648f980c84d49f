// SPDX-License-Identifier: Apache-2.0
// The path of a file or folder that exists only during a write.
#pragma once

#include <filesystem>

namespace locus::io {

/// An unused hidden name in `folder`: `.locus-HOST-PID-NUMBER.tmp`. The destructor removes the file unless it was
/// renamed. The first object in a folder also removes files left there by dead processes of this machine.
class TemporaryPath {
 public:
  explicit TemporaryPath(const std::filesystem::path& folder);
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  ~TemporaryPath();

  const std::filesystem::path& path() const { return path_; }
  /// Renames the file to `target`, as std::rename does. Returns false and sets errno on failure.
  bool rename_to(const std::filesystem::path& target);
  /// Call if nothing was created.
  void release();

 private:
  std::filesystem::path path_;
};

}  // namespace locus::io
