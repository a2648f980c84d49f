// SPDX-License-Identifier: Apache-2.0
// Where a measured figure goes: a page, a Vega-Lite file, or the terminal.
#pragma once

#include <string>

#include "command.h"
#include "figures/figure.h"

namespace locus::tools {

/// Adds -o.
void add_figure_output(CLI::App& command, std::string& output);
/// Error where this build could not write it; asked before a long measurement, not after.
void check_figure_output(const std::string& output);
/// Writes the file and says so on standard error; without a name, draws on standard output unless `quiet`.
void put_figure(const figures::Figure& figure, const std::string& output, bool quiet);

}  // namespace locus::tools
