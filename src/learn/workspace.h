// SPDX-License-Identifier: Apache-2.0
// A learner's folder: the exercises as files, and the progress in locus-learn.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "learn/course.h"

namespace locus::learn {

/// What is kept about one exercise.
struct Progress {
  bool passed = false;
  int hints = 0;           ///< how many were shown
  std::string prediction;  ///< of the comparison, as it was before there were results
};

class Workspace {
 public:
  static constexpr const char* file_name = "locus-learn.json";

  /// A new one in `folder`. `program_language` is python or cpp; the seed makes the detective cases.
  Workspace(std::filesystem::path folder, std::string program_language, std::uint64_t seed);
  /// The one that `folder`, or a folder above it, holds; absent if none does.
  /// Error: a progress file that is not of this format.
  static std::optional<Workspace> find(const std::filesystem::path& folder);

  const std::filesystem::path& folder() const { return folder_; }
  const std::string& program_language() const { return program_language_; }
  std::uint64_t seed() const { return seed_; }
  std::optional<Language> spoken;  ///< where the learner chose one; absent: by the locale

  /// The learner's file, or folder for exercises that are not code.
  std::filesystem::path path_of(const Exercise& exercise) const;
  Progress& progress(const std::string& id) { return progress_[id]; }
  Progress& progress(const Exercise& exercise) { return progress(std::string(exercise.id)); }
  /// The first exercise that is not passed; null if all are.
  const Exercise* next();

  /// Writes the progress file, atomically. Error: the folder cannot be written to.
  void save() const;

 private:
  std::filesystem::path folder_;
  std::string program_language_;
  std::uint64_t seed_ = 0;
  std::map<std::string, Progress> progress_;
};

/// Writes the learner's files of an exercise, unless they are there already.
void lay_out(const Course& course, const Workspace& workspace, const Exercise& exercise, Language language);

/// Writes them anew and forgets that it was passed. Returns where the old ones are now: beside them, with the ending
/// .old, or .old2 and so on, so that nothing is lost; absent if there were none.
std::optional<std::filesystem::path> reset(const Course& course, Workspace& workspace, const Exercise& exercise,
                                           Language language);

/// Error: there is no permission to write to the folder, or its disk is read-only.
void require_writable(const std::filesystem::path& folder);

/// Writes a file, atomically. Error: its folder cannot be written to.
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace locus::learn
