// SPDX-License-Identifier: Apache-2.0
#include "learn/grade.h"

#include <sstream>

#include "learn/comparison.h"
#include "learn/detective/cases.h"
#include "learn/programs.h"

namespace locus::learn {
namespace {

/// Says that a program printed, with its first lines: grading ignores them, and a learner wonders where they are.
std::string note_of_printed(const Sentences& sentences, const std::string& printed) {
  constexpr int most = 8;
  std::istringstream lines(printed);
  std::string first;
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    if (count < most) first += "\n  | " + line.substr(0, 200);
  }
  return sentences.text(count == 1 ? "note.printed_line" : "note.printed", {{"lines", std::to_string(count)}}) + first;
}

/// Most faults of the doctor have a sentence of their own here; the others are called by their name.
std::string cause_text(const Sentences& sentences, const BrokenLaw& broken) {
  if (sentences.has(broken.cause)) return sentences.text(broken.cause, broken.parameters);
  return sentences.text("fault.other", {{"fault", broken.cause.substr(broken.cause.find('.') + 1)}});
}

void grade_code(const Grader& grader, const Workspace& workspace, const Exercise& exercise, Grade& grade) {
  const Program program(grader.course, workspace.program_language(), workspace.path_of(exercise));
  Solution solution(program.words(), grader.seconds);
  try {
    exercise.laws(solution);
  } catch (const BrokenLaw&) {
    if (!solution.printed().empty()) grade.notes.push_back(note_of_printed(grader.sentences, solution.printed()));
    throw;
  }
  if (!solution.printed().empty()) grade.notes.push_back(note_of_printed(grader.sentences, solution.printed()));
}

}  // namespace

Grade Grader::grade(Workspace& workspace, const Exercise& exercise) const {
  Grade grade;
  try {
    if (exercise.kind == Kind::code) {
      grade_code(*this, workspace, exercise, grade);
    } else if (exercise.kind == Kind::comparison) {
      grade_comparison(workspace, exercise, sentences, grade.notes);
    } else {
      detective::grade_case(workspace.path_of(exercise), workspace.seed(), exercise.number);
    }
    grade.passed = true;
  } catch (const BrokenLaw& broken) {
    grade.law = broken.law;
    grade.cause = broken.cause;
    grade.message = sentences.text(broken.law, broken.parameters);
    if (!broken.cause.empty()) grade.message += " " + cause_text(sentences, broken);
  }
  workspace.progress(exercise).passed = grade.passed;
  return grade;
}

}  // namespace locus::learn
