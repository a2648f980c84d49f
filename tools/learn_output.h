// SPDX-License-Identifier: Apache-2.0
// What `locus learn` prints: the path, grades, texts as wide as the terminal.
#pragma once

#include <string>

#include "learn/grade.h"

namespace locus::tools {

/// Prints a text, each paragraph as wide as the terminal. Lines that begin with a space, such as commands and drawings,
/// stay as they are.
void print_wrapped(const std::string& text);

/// Prints the exercises with a mark for those passed and an arrow at the next one.
void print_path(learn::Workspace& workspace, const learn::Course& course, Language language);

/// Prints how many are passed and which is next.
void print_place(learn::Workspace& workspace, const Sentences& sentences);

/// Prints one line: a mark, the stem, the title.
void print_mark(bool passed, const learn::Exercise& exercise, const learn::Texts& texts);

/// Prints the mark, the message and the notes of a grade.
void print_grade(const learn::Grade& grade, const learn::Exercise& exercise, const learn::Texts& texts);

}  // namespace locus::tools
