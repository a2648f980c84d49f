// SPDX-License-Identifier: Apache-2.0
// How a command that refuses its input says so. Shared by `locus`, `locus-lab` and `locus-mpi`.
#pragma once

#include <string>

namespace locus::tools {

/// Whether the words of a command line ask for JSON, even if they cannot be parsed.
bool asks_for_json(int argc, const char* const* argv);

struct Failure {
  std::string program = {};  ///< "locus", "locus lab"
  std::string message = {};
  std::string help = {};  ///< the command that explains the options, if the command line was not understood
  int exit_code = 2;
};

/// Prints one line on standard error: `locus: MESSAGE (see HELP)`, or as JSON the object {error, help, exit_code}.
/// Control characters in names and values are replaced. Returns the exit code.
int report(const Failure& failure, bool json);

}  // namespace locus::tools
