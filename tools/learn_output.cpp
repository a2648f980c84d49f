// SPDX-License-Identifier: Apache-2.0
#include "learn_output.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "terminal.h"

namespace locus::tools {
namespace {

/// Characters, not bytes: Spanish has accents.
std::size_t width_of(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0;
  return count;
}

void print_line(const std::string& line, std::size_t width) {
  std::istringstream words(line);
  std::size_t column = 0;
  for (std::string word; words >> word;) {
    const std::size_t size = width_of(word);
    if (column > 0 && column + 1 + size > width) {
      std::cout << '\n';
      column = 0;
    }
    std::cout << (column > 0 ? " " : "") << word;
    column += size + (column > 0 ? 1 : 0);
  }
  std::cout << '\n';
}

}  // namespace

void print_wrapped(const std::string& text) {
  const auto width = static_cast<std::size_t>(std::min<std::int64_t>(terminal_width(), 100));
  std::string paragraph;
  const auto print_paragraph = [&] {
    if (!paragraph.empty()) print_line(paragraph, width);
    paragraph.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with(' ') || line.starts_with('|')) {
      print_paragraph();
      std::cout << line << '\n';
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  print_paragraph();
}

void print_mark(bool passed, const learn::Exercise& exercise, const learn::Texts& texts) {
  std::cout << (passed ? "✓ " : "✗ ") << std::left << std::setw(20) << learn::file_stem(exercise) << ' ' << texts.title
            << '\n';
}

void print_path(learn::Workspace& workspace, const learn::Course& course, Language language) {
  const learn::Exercise* const next = workspace.next();
  for (const learn::Exercise& exercise : learn::exercises()) {
    const bool done = workspace.progress(exercise).passed;
    std::cout << (done                ? "✓ "
                  : &exercise == next ? "→ "
                                      : "· ")
              << std::left << std::setw(20) << learn::file_stem(exercise) << ' '
              << course.texts(exercise, language).title << '\n';
  }
  std::cout << '\n';
}

void print_place(learn::Workspace& workspace, const Sentences& sentences) {
  const learn::Exercise* const next = workspace.next();
  const std::span<const learn::Exercise> all = learn::exercises();
  const auto passed = std::count_if(
      all.begin(), all.end(), [&](const learn::Exercise& exercise) { return workspace.progress(exercise).passed; });
  const Parameters parameters = {{"passed", std::to_string(passed)},
                                 {"all", std::to_string(all.size())},
                                 {"file", next == nullptr ? "" : workspace.path_of(*next).string()},
                                 {"exercise", next == nullptr ? "" : std::string(next->id)}};
  print_wrapped(sentences.text(next == nullptr ? "ui.all_passed" : "ui.where", parameters));
}

void print_grade(const learn::Grade& grade, const learn::Exercise& exercise, const learn::Texts& texts) {
  print_mark(grade.passed, exercise, texts);
  if (!grade.message.empty()) print_wrapped(grade.message);
  for (const std::string& note : grade.notes) print_wrapped(note);
}

}  // namespace locus::tools
