// SPDX-License-Identifier: Apache-2.0
// Lab 03: a prediction before the results, the results of a small lab, and an argument whose numbers are in them.
#pragma once

#include <string>
#include <vector>

#include "learn/workspace.h"
#include "messages/sentences.h"

namespace locus::learn {

/// Reads prediction.txt, lab/results.json and argument.md in the exercise's folder. Keeps the prediction in the progress
/// when there are no results yet; scores it once there are (a note per task). Throws BrokenLaw where something is
/// missing, or where the argument states a number that is not in the results.
void grade_comparison(Workspace& workspace, const Exercise& exercise, const Sentences& sentences,
                      std::vector<std::string>& notes);

}  // namespace locus::learn
