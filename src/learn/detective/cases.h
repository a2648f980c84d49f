// SPDX-License-Identifier: Apache-2.0
// Ten detective cases: files with one fault each, made fresh from a learner's seed. The same seed makes the same cases,
// so that an answer can be graded; another learner's answers are of no use.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "base/random.h"
#include "learn/broken_law.h"
#include "learn/value.h"
#include "learn/workspace.h"

namespace locus::learn::detective {

/// The command that names the fault.
enum class Tool : std::uint8_t { diagnose, lint, verify };

struct Case {
  std::string fault;  ///< id of the doctor's verdict or of lint's finding
  std::string story;  ///< key of the sentences that say what the files are and which command reads them
  Tool tool = Tool::diagnose;
  Parameters parameters = {};
  std::map<std::string, std::string> texts = {};  ///< files; .py and .cpp are for those who write that language
  std::map<std::string, Array> arrays = {};       ///< .npy files, float32 or int64
};

/// How many faults there are of each kind; a case takes one.
std::size_t rotation_faults();
std::size_t bias_faults();
std::size_t model_faults();
std::size_t engine_faults();

/// A case with this fault, in sizes and numbers that `random` chooses. The doctor names the fault first.
Case rotation_case(std::size_t fault, Random& random);
Case bias_case(std::size_t fault, Random& random);
Case model_case(std::size_t fault, Random& random);
Case engine_case(std::size_t fault, Random& random);

/// The case `number`, 1 to 10, of a seed.
Case make_case(std::uint64_t seed, int number);

/// Writes the files of a case of `workspace` to `folder`; returns its story.
std::string write_case(const std::filesystem::path& folder, const Workspace& workspace, int number, Language language);

/// Reads answer.txt in `folder`. Throws BrokenLaw unless it names the fault.
void grade_case(const std::filesystem::path& folder, std::uint64_t seed, int number);

}  // namespace locus::learn::detective
