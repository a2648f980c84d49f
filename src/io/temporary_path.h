// SPDX-License-Identifier: Apache-2.0
// The name of a file or folder that exists only while something is being written.
#pragma once

#include <filesystem>

namespace locus::io {

/// A hidden name in `folder` that nothing has: `.locus-HOST-PID-NUMBER.tmp`. What stands there when this object goes is
/// removed, unless it was renamed. The first one in a folder also removes what processes of this machine that are no
/// longer alive have left there.
class TemporaryPath {
 public:
  explicit TemporaryPath(const std::filesystem::path& folder);
  TemporaryPath(const TemporaryPath&) = delete;
  TemporaryPath& operator=(const TemporaryPath&) = delete;
  ~TemporaryPath();

  const std::filesystem::path& path() const { return path_; }
  /// Renames what stands there to `target`, as std::rename does; false where that fails, with errno.
  bool rename_to(const std::filesystem::path& target);
  /// Nothing was created there.
  void release();

 private:
  std::filesystem::path path_;
};

}  // namespace locus::io
