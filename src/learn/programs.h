// SPDX-License-Identifier: Apache-2.0
// Makes a learner's file a program to run: Python by the harness, C++ by one call of the compiler.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "learn/course.h"

namespace locus::learn {

/// The command line of Python, with a package that was built beside the course.
std::vector<std::string> python_words(const Course& course);
/// $CXX, else c++.
std::string compiler_word();

class Program {
 public:
  /// Compiles a C++ file into a temporary folder.
  /// Throws BrokenLaw: no such file, no compiler, a file that does not compile.
  Program(const Course& course, const std::string& language, const std::filesystem::path& file);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// The command line that serves the functions.
  const std::vector<std::string>& words() const { return words_; }

 private:
  void compile(const Course& course, const std::filesystem::path& file);

  std::vector<std::string> words_;
  std::filesystem::path folder_;  ///< of the compiled program
};

}  // namespace locus::learn
