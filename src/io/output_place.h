// SPDX-License-Identifier: Apache-2.0
// Destinations of converted files: next to the files they replace, until all of them are complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/temporary_path.h"

namespace locus::io {

/// Error: the output is the input, under any name.
void require_other_file(const std::filesystem::path& input, const std::filesystem::path& output);

/// Error: the file system of `folder` has less than `bytes` free.
void require_free_space(const std::filesystem::path& folder, std::uint64_t bytes);

/// A new folder for files that must appear together or not at all. It is removed unless it was published.
class StagingFolder {
 public:
  /// Hidden; next to `target`, or inside it if it exists.
  explicit StagingFolder(const std::filesystem::path& target);
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_.path() / name; }
  /// Renames the folder to `target`. If that exists, replaces its files of the same names, with one rename each.
  void publish();

 private:
  std::filesystem::path target_;
  bool replaces_;
  TemporaryPath path_;
};

}  // namespace locus::io
