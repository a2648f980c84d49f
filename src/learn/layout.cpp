// SPDX-License-Identifier: Apache-2.0
// Writes the files that a learner works on.
#include <sstream>

#include "learn/detective/cases.h"
#include "learn/workspace.h"
#include "locus/error.h"
#include "locus/io/atomic_file.h"

namespace locus::learn {
namespace {

namespace fs = std::filesystem;

void write_text(const fs::path& file, const std::string& text) {
  const io::ByteChunk chunk = std::as_bytes(std::span(text));
  io::write_atomically(file, std::span(&chunk, 1));
}

/// The title and the text as comment lines.
std::string as_comment(const Texts& texts, const std::string& mark) {
  std::istringstream lines(texts.title + "\n\n" + texts.intro);
  std::string comment;
  for (std::string line; std::getline(lines, line);) comment += line.empty() ? mark + "\n" : mark + " " + line + "\n";
  return comment;
}

void lay_out_code(const Course& course, const Workspace& workspace, const Exercise& exercise, const Texts& texts) {
  const bool cpp = workspace.program_language() == "cpp";
  const fs::path given = course.folder_of(exercise) / (cpp ? "template.cpp" : "template.py");
  write_text(workspace.path_of(exercise), as_comment(texts, cpp ? "//" : "#") + "\n" + text_at(given));
  if (cpp) {  // beside the exercises, so that an editor finds it
    const fs::path header = workspace.folder() / "locus_exercise.h";
    if (!fs::exists(header)) write_text(header, text_at(course.folder() / "cpp" / "locus_exercise.h"));
  }
}

}  // namespace

void lay_out(const Course& course, const Workspace& workspace, const Exercise& exercise, Language language) {
  const fs::path path = workspace.path_of(exercise);
  if (fs::exists(path)) return;
  const Texts texts = course.texts(exercise, language);
  if (exercise.kind == Kind::code) {
    lay_out_code(course, workspace, exercise, texts);
    return;
  }
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

void reset(const Course& course, Workspace& workspace, const Exercise& exercise, Language language) {
  const fs::path path = workspace.path_of(exercise);
  if (fs::exists(path)) {
    const fs::path old = path.string() + ".old";
    fs::remove_all(old);
    fs::rename(path, old);
  }
  workspace.progress(exercise) = {};
  lay_out(course, workspace, exercise, language);
  workspace.save();
}

}  // namespace locus::learn
