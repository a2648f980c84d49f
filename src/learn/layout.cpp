// SPDX-License-Identifier: Apache-2.0
// Writes the files that a learner works on.
#include <sstream>

#include "learn/detective/cases.h"
#include "learn/workspace.h"

namespace locus::learn {
namespace {

namespace fs = std::filesystem;

/// A text as comment lines.
std::string as_comment(const std::string& text, const std::string& mark) {
  std::istringstream lines(text);
  std::string comment;
  for (std::string line; std::getline(lines, line);) comment += line.empty() ? mark + "\n" : mark + " " + line + "\n";
  return comment;
}

void lay_out_code(const Course& course, const Workspace& workspace, const Exercise& exercise, Language language) {
  const Texts texts = course.texts(exercise, language);
  const bool cpp = workspace.program_language() == "cpp";
  const fs::path given = course.folder_of(exercise) / (cpp ? "template.cpp" : "template.py");
  std::string text = texts.title + "\n\n" + texts.intro;
  if (cpp) text += "\n\n" + Sentences(language).text("ui.cpp");
  write_text(workspace.path_of(exercise), as_comment(text, cpp ? "//" : "#") + "\n" + text_at(given));
  if (cpp) {  // beside the exercises, so that an editor finds it
    const fs::path header = workspace.folder() / "locus_exercise.h";
    if (!fs::exists(header)) write_text(header, text_at(course.folder() / "cpp" / "locus_exercise.h"));
  }
}

}  // namespace

void lay_out(const Course& course, const Workspace& workspace, const Exercise& exercise, Language language) {
  const fs::path path = workspace.path_of(exercise);
  if (fs::exists(path)) return;
  if (exercise.kind == Kind::code) {
    lay_out_code(course, workspace, exercise, language);
    return;
  }
  const Texts texts = course.texts(exercise, language);
  fs::create_directories(path);
  if (exercise.kind == Kind::detective) {
    const std::string story = detective::write_case(path, workspace, exercise.number, language);
    write_text(path / "README.md", "# " + texts.title + "\n\n" + story + "\n\n" + texts.intro + "\n");
    write_text(path / "answer.txt", "");
  } else {
    write_text(path / "README.md", "# " + texts.title + "\n\n" + texts.intro + "\n");
    write_text(path / "prediction.txt", "order:\nverbs:\n");
    write_text(path / "argument.md", "");
  }
}

std::optional<fs::path> reset(const Course& course, Workspace& workspace, const Exercise& exercise, Language language) {
  const fs::path path = workspace.path_of(exercise);
  require_writable(workspace.folder());
  std::optional<fs::path> kept;
  if (fs::exists(path)) {
    kept = path.string() + ".old";
    for (int number = 2; fs::exists(*kept); ++number) kept = path.string() + ".old" + std::to_string(number);
    fs::rename(path, *kept);
  }
  workspace.progress(exercise) = {};
  lay_out(course, workspace, exercise, language);
  workspace.save();
  return kept;
}

}  // namespace locus::learn
