// SPDX-License-Identifier: Apache-2.0
// Bad input to the command: it prints one line that names the fault, exits with 2 and leaves every file unchanged. One
// table of cases per subject: the files *_bad_input_test.cpp.
#pragma once

#include <map>
#include <ostream>

#include "cli/locus_command.h"

namespace locus::testing::bad_input {

struct Case {
  std::string name;
  std::string line;                    ///< the arguments, each separated by one blank
  std::vector<std::string> fragments;  ///< what the line on standard error must contain
};

inline void PrintTo(const Case& one, std::ostream* out) { *out << "locus " << one.line; }

/// Instantiate it with a table of cases. Its files are those of files() that the line names.
class BadInputTest : public ::testing::TestWithParam<Case> {};

struct CaseName {
  std::string operator()(const ::testing::TestParamInfo<Case>& one) const { return one.param.name; }
};

using Files = std::map<std::string, std::string>;

/// The files that cases name: contents by name.
const Files& files();

/// Runs the command, which must refuse the arguments in one line with these fragments and change no file.
void expect_refused(const TemporaryFolder& folder, const std::vector<std::string>& arguments,
                    const std::vector<std::string>& fragments);

// ---- the beginnings of commands

inline std::string rope(const std::string& settings) { return "show --scheme rope --set pairing=half " + settings; }
inline std::string rule(const std::string& settings) { return rope("--set head_dim=8 " + settings); }
inline std::string apply(const std::string& rest) {
  return "apply --scheme rope --set head_dim=8 --set pairing=half --output out.npy " + rest;
}
inline std::string apply_q(const std::string& rest) { return apply("--input q.npy --axes bhtd " + rest); }
inline std::string learned(const std::string& rest) {
  return "apply --scheme learned --set table=table.npy --output out.npy " + rest;
}
inline std::string bias(const std::string& rest) { return "bias --scheme " + rest; }
inline std::string attend_q(const std::string& rest) {
  return "attend --query q.npy --key q.npy --value q.npy -o out.npy " + rest;
}
inline std::string resize(const std::string& rest) { return "resize --output out.npy --table table.npy " + rest; }

}  // namespace locus::testing::bad_input
