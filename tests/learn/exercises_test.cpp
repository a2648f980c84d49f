// SPDX-License-Identifier: Apache-2.0
// Every exercise, in Python and in C++: the reference solution passes, the template fails as unwritten, and each of at
// least five wrong solutions fails with the message that names its fault. answers/wrong.json has them as edits of the
// reference solution. Compiling takes a second or two each, so that all of those in C++ are for the slow tests
// (learn.wrong_solutions_in_cpp, which sets LOCUS_ALL_WRONG_SOLUTIONS); a plain run compiles two of each exercise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "learn/grade.h"
#include "learn/tools_needed.h"
#include "support/command.h"
#include "support/paths.h"

namespace locus::learn {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const Course& course() {
  static const Course one(testing::source_dir() / "learn/exercises");
  return one;
}

/// Ample: what is tested is the answer, not the machine.
constexpr double patience = 300;

struct Named {
  const Exercise* exercise;
  std::string language;
};

void PrintTo(const Named& named, std::ostream* stream) { *stream << named.exercise->id << ' ' << named.language; }

std::vector<Named> coded() {
  std::vector<Named> all;
  for (const Exercise& exercise : exercises()) {
    if (exercise.kind != Kind::code) continue;
    for (const char* language : {"python", "cpp"}) all.push_back({&exercise, language});
  }
  return all;
}

class Exercises : public ::testing::TestWithParam<Named> {
 protected:
  Exercises() : workspace_(folder_.path(), GetParam().language, 1) {}

  void SetUp() override {
    setenv("LOCUS_PYTHON", LOCUS_TEST_PYTHON, 1);
    setenv("CXX", LOCUS_TEST_CXX, 1);
    const std::vector<std::string> missing = tools_missing(GetParam().language, course());
    if (!missing.empty() && missing.front() != "tool.no_package") GTEST_SKIP() << missing.front();
  }
  fs::path answers() const { return course().folder_of(*GetParam().exercise) / "answers"; }
  std::string reference() const {
    return text_at(answers() / (GetParam().language == "cpp" ? "solution.cpp" : "solution.py"));
  }
  Grade grade(const std::string& text) {
    std::ofstream(workspace_.path_of(*GetParam().exercise)) << text;
    return grade_file();
  }
  Grade grade_file() {
    static const Sentences english;
    return Grader{course(), english, patience}.grade(workspace_, *GetParam().exercise);
  }

  testing::TemporaryFolder folder_;
  Workspace workspace_;
};

TEST_P(Exercises, ReferencePassesAndTemplateFails) {
  lay_out(course(), workspace_, *GetParam().exercise, Language::spanish);
  const Grade stub = grade_file();
  EXPECT_FALSE(stub.passed);
  EXPECT_EQ(stub.law, "run.not_written") << stub.message;

  const Grade right = grade(reference());
  EXPECT_TRUE(right.passed) << right.message;
  EXPECT_TRUE(right.notes.empty());
  EXPECT_TRUE(workspace_.progress(*GetParam().exercise).passed);
}

TEST_P(Exercises, WrongSolutionsAreNamed) {
  const Json wrong = Json::parse(text_at(answers() / "wrong.json"));
  EXPECT_GE(wrong.size(), 5u);
  const bool all = GetParam().language != "cpp" || std::getenv("LOCUS_ALL_WRONG_SOLUTIONS") != nullptr;
  const std::size_t graded = all ? wrong.size() : 2;
  for (std::size_t i = 0; i < wrong.size(); ++i) {
    const Json& one = wrong[i];
    std::string text = reference();
    for (const Json& edit : one.at(GetParam().language)) {
      const std::string from = edit.at(0), to = edit.at(1);
      std::size_t at = text.find(from);
      ASSERT_NE(at, std::string::npos) << one.at("name") << ": " << from;
      for (; at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
    }
    if (i >= graded) continue;
    const Grade found = grade(text);
    EXPECT_FALSE(found.passed) << one.at("name");
    const std::string expected = one.at("expects");
    const bool is_named =
        found.cause == expected || found.law == expected || (expected == "run.raised_at" && found.law == "run.raised");
    EXPECT_TRUE(is_named) << one.at("name") << ": expected " << expected << ", got " << found.law << ", " << found.cause
                          << ": " << found.message;
  }
}

std::string name_of_case(const ::testing::TestParamInfo<Named>& info) {
  std::string name = std::string(info.param.exercise->id) + "_" + info.param.language;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Exercises, ::testing::ValuesIn(coded()), name_of_case);

}  // namespace
}  // namespace locus::learn
