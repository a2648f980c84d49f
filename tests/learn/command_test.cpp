// SPDX-License-Identifier: Apache-2.0
// `locus learn` as a student uses it: start, fail in several ways, ask for hints, pass, read the explanation.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <nlohmann/json.hpp>
#include <sstream>

#include "learn/course.h"
#include "learn/tools_needed.h"
#include "support/command.h"
#include "support/paths.h"

namespace locus::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class LearnCommand : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("LOCUS_PYTHON", LOCUS_TEST_PYTHON, 1);
    setenv("CXX", LOCUS_TEST_CXX, 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("VIRTUAL_ENV");
  }
  CommandResult locus(std::vector<std::string> words) {
    words.insert(words.begin(), "learn");
    words.insert(words.end(), {"--exercises", (source_dir() / "learn/exercises").string()});
    return run_command(LOCUS_COMMAND, words, folder_.path(), std::chrono::minutes(9));
  }
  CommandResult check(const std::string& limit = "300") { return locus({"check", "attention", "--time-limit", limit}); }
  void start(const std::string& language = "python", const std::string& lang = "en") {
    unsetenv("PYTHONUNBUFFERED");  // what a solution prints must arrive without its help
    const CommandResult result = locus({"start", ".", "--language", language, "--lang", lang, "--seed", "1"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const std::vector<std::string> missing =
        learn::tools_missing(language, learn::Course(source_dir() / "learn/exercises"));
    if (!missing.empty() && missing.front() != "tool.no_package") GTEST_SKIP() << missing.front();
  }
  static std::string solution(const std::string& ending) {
    return learn::text_at(source_dir() / ("learn/exercises/attention/answers/solution" + ending));
  }
  TemporaryFolder folder_;
};

/// Lines may be broken anywhere between words.
void expect_says(const CommandResult& result, const std::string& words) {
  std::string text = result.out;
  std::replace(text.begin(), text.end(), '\n', ' ');
  EXPECT_NE(text.find(words), std::string::npos) << words << " is not in\n" << result.out << result.err;
}

TEST_F(LearnCommand, WithoutExercisesItShowsThePathAndHowToBegin) {
  const CommandResult path = locus({});
  EXPECT_EQ(path.exit_code, 0) << path.err;
  expect_says(path, "→ 01-attention");
  expect_says(path, "· 28-case-10");
  expect_says(path, "`locus learn start` lays the exercises out");
  EXPECT_TRUE(fs::is_empty(folder_.path())) << "showing the path writes nothing";
  expect_says(locus({"--lang", "es"}), "`locus learn start` crea los ejercicios");
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"check"}, {"hint"}, {"watch"}, {"explain"}, {"reset", "attention"}, {"--dir", "."}}) {
    const CommandResult result = locus(words);
    EXPECT_EQ(result.exit_code, 2) << words[0];
    EXPECT_NE(result.err.find("`locus learn start` lays them out"), std::string::npos) << result.err;
  }
}

// A second start completes what is there, from any folder within, and never changes what it was started with.
TEST_F(LearnCommand, StartsAgainWithoutHarm) {
  ASSERT_EQ(locus({"start", "--language", "cpp", "--seed", "7"}).exit_code, 0);
  folder_.write("locus-learn/01-attention.cpp", "mine");
  fs::remove(folder_ / "locus-learn/02-permutation.cpp");
  const CommandResult again = locus({"start"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  expect_says(again, "your files were not touched");
  EXPECT_EQ(folder_.read("locus-learn/01-attention.cpp"), "mine");
  EXPECT_TRUE(fs::exists(folder_ / "locus-learn/02-permutation.cpp"));
  const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
    const CommandResult result = locus(words);
    EXPECT_EQ(result.exit_code, 2) << why;
    EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
  };
  refused({"start", "--language", "python"}, "holds exercises in cpp");
  refused({"start", "--seed", "8"}, "was started with the seed 7");
  folder_.write("file", "");
  refused({"start", "file"}, "is a file");
  refused({"check", "29"}, "numbered from 1 to 28");
  refused({"check", "29-nothing.cpp"}, "unknown exercise 'nothing'");
  EXPECT_EQ(locus({"check", "locus-learn/01-attention.cpp"}).exit_code, 1) << "a file names its exercise";
  EXPECT_EQ(locus({"hint", "18-comparison/"}).exit_code, 0);
  const CommandResult inside =
      run_command(LOCUS_COMMAND, {"learn", "start", "--exercises", (source_dir() / "learn/exercises").string()},
                  folder_ / "locus-learn/19-case-01", std::chrono::minutes(9));
  EXPECT_EQ(inside.exit_code, 0) << inside.err;
  EXPECT_FALSE(fs::exists(folder_ / "locus-learn/19-case-01/locus-learn"));
}

TEST_F(LearnCommand, AStudentFailsAsksAndPasses) {
  ASSERT_NO_FATAL_FAILURE(start());
  if (IsSkipped()) return;
  expect_says(locus({}), "→ 01-attention");
  const auto fails = [&](const std::string& body, const std::string& words, const std::string& limit = "300") {
    folder_.write("01-attention.py", "import numpy as np\n\ndef attention(q, k, v):\n    " + body + "\n");
    const CommandResult result = check(limit);
    EXPECT_EQ(result.exit_code, 1) << body;
    expect_says(result, words);
  };
  fails("while True: pass", "did not answer within 3 s", "3");
  fails("while True: print('forever')", "did not answer within 3 s", "3");
  fails("import os; os.abort()", "crashed");
  fails("import sys; sys.exit(3)", "ended with code 3");
  fails("print('here'); return q", "| here");
  fails("return q[0]", "shape [4, 3]");
  fails("return np.full((len(q), v.shape[1]), np.nan)", "NaN at [0, 0]");
  fails("return 'hello'", "must return numbers");
  fails("return None", "Is the return missing?");
  fails("return np.zeros((30000, 30000))", "far more numbers than the exercise asks for");
  fails("return q @ v", "in line 4: ValueError");
  fails("input()", "EOFError");
  folder_.write("01-attention.py", "def attention(q, k, v)\n    return q\n");
  expect_says(check(), "SyntaxError");
  folder_.write("01-attention.py", "x = 1\n");
  expect_says(check(), "no function `attention`");
  fs::remove(folder_ / "01-attention.py");
  expect_says(check(), "01-attention.py is not there");

  EXPECT_EQ(locus({"explain", "attention"}).exit_code, 1) << "not before passing";
  expect_says(locus({"hint", "attention"}), "hint 1 of 3");
  expect_says(locus({"hint", "attention"}), "hint 2 of 3");
  expect_says(locus({"hint", "attention"}), "hint 3 of 3");
  expect_says(locus({"hint", "attention"}), "no more hints");

  folder_.write("01-attention.py", solution(".py") + "print('working')\n");
  const CommandResult passed = check();
  EXPECT_EQ(passed.exit_code, 0) << passed.out;
  expect_says(passed, "printed a line");
  expect_says(passed, "| working");
  expect_says(locus({}), "✓ 01-attention");
  EXPECT_EQ(locus({"explain", "attention"}).exit_code, 0);

  EXPECT_EQ(locus({"reset", "1"}).exit_code, 0);
  EXPECT_NE(folder_.read("01-attention.py").find("NotImplementedError"), std::string::npos);
  EXPECT_NE(folder_.read("01-attention.py.old").find("working"), std::string::npos);
  expect_says(locus({"reset", "1"}), "01-attention.py.old2");
  EXPECT_NE(folder_.read("01-attention.py.old").find("working"), std::string::npos) << "a second reset loses nothing";
  expect_says(locus({}), "→ 01-attention");
  const CommandResult unknown = locus({"check", "atention"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'attention'"), std::string::npos) << unknown.err;
}

TEST_F(LearnCommand, SpeaksSpanishAndCpp) {
  ASSERT_NO_FATAL_FAILURE(start("cpp", "es"));
  if (IsSkipped()) return;
  EXPECT_NE(folder_.read("01-attention.cpp").find("// Lección 0."), std::string::npos);
  expect_says(check(), "está por escribir");
  const auto fails = [&](const std::string& body, const std::string& words) {
    folder_.write("01-attention.cpp",
                  "#include \"locus_exercise.h\"\nArray attention(const Array& q, const Array&, const Array&) {\n" +
                      body +
                      "\n}\nint main() { return learn::serve({{\"attention\", learn::function(attention)}}); }\n");
    const CommandResult result = check();
    EXPECT_EQ(result.exit_code, 1) << body;
    expect_says(result, words);
  };
  fails("std::puts(\"trabajando\"); return Array({2});", "| trabajando");
  fails("return q", "no compila");
  fails("volatile int* nowhere = nullptr; *nowhere = 1; return q;", "de forma inesperada");
  fails("std::puts(\"dentro\"); return q;", "| dentro");
  fails("return Array({2});", "la forma [4, 3]");
  fails("Array a = q; a(9, 9) = 1; return a;", "Un índice está fuera de rango: 9 en un eje de tamaño 4");
  folder_.write("01-attention.cpp", solution(".cpp"));
  EXPECT_EQ(check().exit_code, 0);
  expect_says(locus({"explain"}), "conjunto");
  expect_says(locus({"hint"}), "pista 1 de 3");
  const auto refused = [&](const std::vector<std::string>& words, const std::string& why) {
    const CommandResult result = locus(words);
    EXPECT_EQ(result.exit_code, 2) << why;
    EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
  };
  refused({"check", "atention"}, "¿querías decir 'attention'?");
  refused({"hint", "nada"}, "no hay ningún ejercicio 'nada'");
  refused({"reset", "29"}, "los ejercicios van del 1 al 28");
  refused({"start", "01-attention.cpp/x"}, "no se puede crear la carpeta");
  fs::create_directories(folder_ / "other");
  folder_.write("other/locus-learn.json", "{");
  refused({"check", "--dir", (folder_ / "other").string(), "--lang", "es"}, "no es un fichero de progreso");
  expect_says(locus({"--lang", "en"}), "1 of 28 passed");
}

TEST_F(LearnCommand, ATeacherGetsOneLinePerExercise) {
  ASSERT_NO_FATAL_FAILURE(start());
  if (IsSkipped()) return;
  folder_.write("01-attention.py", solution(".py"));
  const CommandResult result = locus({"check", "--json", "--time-limit", "300"});
  EXPECT_EQ(result.exit_code, 1) << "not all are passed";
  EXPECT_EQ(result.err, "");
  std::istringstream lines(result.out);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json json = Json::parse(line);
    EXPECT_EQ(json["exercise"], learn::exercises()[count].id);
    EXPECT_EQ(json["passed"], count == 0);
    EXPECT_EQ(json["message"] == "", count == 0);
  }
  EXPECT_EQ(count, learn::exercises().size());
}

// A class's folders may be mounted read-only where they are graded.
TEST_F(LearnCommand, GradesWhatItCannotWriteTo) {
  ASSERT_NO_FATAL_FAILURE(start());
  if (IsSkipped()) return;
  if (geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::permissions(folder_.path(), fs::perms::owner_read | fs::perms::owner_exec);
  const CommandResult result = check();
  const CommandResult reset = locus({"reset", "attention"});
  fs::permissions(folder_.path(), fs::perms::owner_all);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  expect_says(result, "`attention` is still to be written");
  EXPECT_NE(result.err.find("The progress was not kept"), std::string::npos) << result.err;
  EXPECT_EQ(reset.exit_code, 2);
  EXPECT_NE(reset.err.find("cannot be written to"), std::string::npos) << reset.err;
}

TEST_F(LearnCommand, WatchEndsWhenTheExerciseIsPassed) {
  ASSERT_NO_FATAL_FAILURE(start());
  if (IsSkipped()) return;
  std::future<CommandResult> watching = std::async(std::launch::async, [&] {
    return locus({"watch", "attention", "--time-limit", "300"});
  });
  folder_.write("01-attention.py", solution(".py"));
  const CommandResult result = watching.get();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  expect_says(result, "✓ 01-attention");
  expect_says(result, "set");
}

// `locus verify --function` runs a file as the exercises run.
TEST_F(LearnCommand, VerifyCallsAFunctionInAFile) {
  ASSERT_NO_FATAL_FAILURE(start());
  if (IsSkipped()) return;
  const auto verify = [&](const std::string& scheme, const std::string& file) {
    return run_command(LOCUS_COMMAND, {"verify", "--scheme", scheme, "--function", file}, folder_.path(),
                       std::chrono::minutes(9));
  };
  const std::string rope = "rope:head_dim=16,pairing=half";
  const std::string right = learn::text_at(source_dir() / "learn/exercises/rope-half/answers/solution.py");
  folder_.write("mine.py", right);
  const CommandResult passed = verify(rope, "mine.py");
  EXPECT_EQ(passed.exit_code, 0) << passed.out << passed.err;
  expect_says(passed, "0 failed");
  const CommandResult other = verify("rope:head_dim=16,pairing=interleaved", "mine.py");
  EXPECT_EQ(other.exit_code, 1);
  expect_says(other, "likely cause: wrong pairing");
  // A table that ends is verified up to there.
  folder_.write("mine.py", right +
                               "full = rotate\n\n\ndef rotate(x, positions):\n    assert max(positions) < 4096\n"
                               "    return full(x, positions)\n");
  expect_says(verify(rope, "mine.py"), "from 4096 on the function throws");

  folder_.write("bias.py",
                "import numpy as np\n\n\ndef bias(query_ids, key_ids):\n"
                "    distance = query_ids[:, None] - key_ids\n    return np.array([-1 / 16, -1 / 256])"
                "[:, None, None] * distance\n");
  EXPECT_EQ(verify("alibi:heads=2", "bias.py").exit_code, 0);
  folder_.write("rows.py",
                "import numpy as np\n\n\ndef rows(positions):\n"
                "    return np.stack([np.cos(positions), np.sin(positions)], -1)\n");
  expect_says(verify("sinusoidal:dim=2", "rows.py"), "FAIL");

  const auto refused = [&](const std::string& scheme, const std::string& file, const std::string& why) {
    const CommandResult result = verify(scheme, file);
    EXPECT_EQ(result.exit_code, 2) << why;
    EXPECT_NE(result.err.find(why), std::string::npos) << result.err;
  };
  refused(rope, "nowhere.py", "cannot read nowhere.py");
  refused(rope, "bias.py", "no function `rotate`");
  refused("xpos:head_dim=16,pairing=half", "mine.py", "rotates queries otherwise than keys");
  folder_.write("mine.txt", right);
  refused(rope, "mine.txt", ".py or .cpp");
}

TEST_F(LearnCommand, SaysWhatIsMissing) {
  ASSERT_NO_FATAL_FAILURE(start());
  if (IsSkipped()) return;
  setenv("LOCUS_PYTHON", "/nowhere/python3", 1);
  expect_says(check(), "apt install python3-numpy");
  const TemporaryFolder other;
  EXPECT_EQ(locus({"start", other.path().string(), "--language", "cpp"}).exit_code, 0);
  setenv("CXX", "/nowhere/c++", 1);
  expect_says(locus({"check", "attention", "--dir", other.path().string()}), "apt install g++");
}

}  // namespace
}  // namespace locus::testing
