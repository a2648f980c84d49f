// SPDX-License-Identifier: Apache-2.0
#include "learn/programs.h"

#include <cstdlib>
#include <sstream>

#include "learn/child.h"
#include "locus/error.h"

namespace locus::learn {
namespace {

namespace fs = std::filesystem;

constexpr double compiler_seconds = 600;

std::string setting(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

/// $LOCUS_PYTHON; in a virtual environment its own; else the system's, for which the package is built too.
std::string python_word() {
  const bool is_virtual = !setting("VIRTUAL_ENV", setting("CONDA_PREFIX", "").c_str()).empty();
  const char* const system = "/usr/bin/python3";
  return setting("LOCUS_PYTHON", !is_virtual && fs::exists(system) ? system : "python3");
}

/// The first line of a compiler's output that states an error, else its first line.
std::string first_error(const std::string& output) {
  std::istringstream lines(output);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first;
}

}  // namespace

std::vector<std::string> python_words(const Course& course) {
  // One thread: the arrays are small, and a class may be graded side by side.
  std::vector<std::string> words = {"env", "OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"};
  const fs::path package = course.folder().parent_path().parent_path().parent_path() / "python";
  if (fs::is_directory(package / "locus")) {
    words.push_back("PYTHONPATH=" + package.string() + ":" + setting("PYTHONPATH", ""));
  }
  words.push_back(python_word());
  return words;
}

std::string compiler_word() { return setting("CXX", "c++"); }

Program::Program(const Course& course, const std::string& language, const fs::path& file) {
  if (!fs::is_regular_file(file)) {
    const std::string name = file.filename().string();
    throw BrokenLaw{"run.no_file", {}, {{"file", name}, {"exercise", name}}};
  }
  if (language == "cpp") {
    compile(course, file);
    return;
  }
  words_ = python_words(course);
  words_.insert(words_.end(), {"-B", (course.folder() / "python" / "harness.py").string(), file.string()});
}

void Program::compile(const Course& course, const fs::path& file) {
  std::string pattern = (fs::temp_directory_path() / "locus-learn-XXXXXX").string();
  require(mkdtemp(pattern.data()) != nullptr, "cannot make a folder in ", fs::temp_directory_path().string());
  folder_ = pattern;
  const std::string compiler = compiler_word();
  words_ = {(folder_ / "exercise").string()};
  Child child({compiler, "-std=c++20", "-I", (course.folder() / "cpp").string(), file.string(), "-o", words_.front()},
              compiler_seconds);
  const Ending ending = child.end();
  if (ending.exit_code == 0 && ending.signal == 0 && !ending.timed_out) return;
  fs::remove_all(folder_);
  if (ending.exit_code == not_found) throw BrokenLaw{"tool.no_compiler", {}, {{"compiler", compiler}}};
  throw BrokenLaw{"run.does_not_compile", {}, {{"error", first_error(child.printed())}}};
}

Program::~Program() {
  std::error_code none;
  if (!folder_.empty()) fs::remove_all(folder_, none);
}

}  // namespace locus::learn
