// SPDX-License-Identifier: Apache-2.0
#include "learn/tools_needed.h"

#include "learn/child.h"
#include "learn/programs.h"

namespace locus::learn {
namespace {

int exit_code_of(std::vector<std::string> words) {
  Child child(std::move(words), 60);
  return child.end().exit_code;
}

}  // namespace

std::vector<std::string> tools_missing(const std::string& program_language, const Course& course) {
  if (program_language == "cpp") {
    return exit_code_of({compiler_word(), "--version"}) == 0 ? std::vector<std::string>{}
                                                             : std::vector<std::string>{"tool.no_compiler"};
  }
  const auto python = [&](const char* program) {
    std::vector<std::string> words = python_words(course);
    words.insert(words.end(), {"-B", "-c", program});
    return exit_code_of(std::move(words));
  };
  if (python("pass") != 0) return {"tool.no_python"};
  if (python("import numpy") != 0) return {"tool.no_numpy"};
  if (python("import locus") != 0) return {"tool.no_package"};
  return {};
}

}  // namespace locus::learn
