// SPDX-License-Identifier: Apache-2.0
// What a programming language needs on this machine.
#pragma once

#include <string>
#include <vector>

#include "learn/course.h"

namespace locus::learn {

/// Keys of the sentences that say what is missing and how to get it: Python, NumPy, the package, or a compiler.
std::vector<std::string> tools_missing(const std::string& program_language, const Course& course);

}  // namespace locus::learn
