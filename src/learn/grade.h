// SPDX-License-Identifier: Apache-2.0
// Grades one exercise of a workspace: runs the learner's files and says which law is broken, if one is.
#pragma once

#include <string>
#include <vector>

#include "learn/workspace.h"
#include "messages/sentences.h"

namespace locus::learn {

struct Grade {
  bool passed = false;
  std::string law, cause;          ///< keys of the catalogue; empty if passed or unknown
  std::string message;             ///< what to tell the learner; empty if passed
  std::vector<std::string> notes;  ///< for a passed exercise too: what it printed, how a prediction did
};

struct Grader {
  const Course& course;
  const Sentences& sentences;
  double seconds = 10;  ///< for one run of a learner's program

  /// Grades and records the result in the workspace, without saving it.
  Grade grade(Workspace& workspace, const Exercise& exercise) const;
};

}  // namespace locus::learn
