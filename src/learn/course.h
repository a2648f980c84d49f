// SPDX-License-Identifier: Apache-2.0
// The course: its exercises in order, and where their files are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "learn/solution.h"
#include "messages/language.h"

namespace locus::learn {

enum class Kind : std::uint8_t {
  code,        ///< functions in Python or C++, graded by `laws`
  comparison,  ///< a prediction, a lab's results and an argument
  detective    ///< a dump or a model with one fault to name
};

struct Exercise {
  std::string_view id;
  Kind kind = Kind::code;
  void (*laws)(Solution& solution) = nullptr;  ///< throws BrokenLaw at the first law that does not hold
  int number = 0;                              ///< of a detective case, from 1
};

/// All exercises, in the order of the path.
std::span<const Exercise> exercises();
/// By its id, its place in the path (from 1) or the name of a learner's file.
/// Error: SpokenError, naming the nearest known id.
const Exercise& find_exercise(std::string_view name);
/// "03-symmetry": the place in the path and the id, as files and folders are called.
std::string file_stem(const Exercise& exercise);

/// What a learner reads, from en.md or es.md: a title, a text, hints, and an explanation for those who passed.
struct Texts {
  std::string title, intro, explanation;
  std::vector<std::string> hints;
};

/// The installed or built folder learn/exercises.
class Course {
 public:
  /// Looks in `folder` if it is not empty, else in ../share/locus/exercises of this program.
  /// Error: not found.
  explicit Course(const std::filesystem::path& folder = {});

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path folder_of(const Exercise& exercise) const;
  Texts texts(const Exercise& exercise, Language language) const;

 private:
  std::filesystem::path folder_;
};

/// The content of a file. Error: it cannot be read.
std::string text_at(const std::filesystem::path& file);

}  // namespace locus::learn
