// SPDX-License-Identifier: Apache-2.0
// Where a figure goes: a page, a Vega-Lite file, or the terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "command.h"
#include "figures/figure.h"

namespace locus::tools {

/// Adds -o.
void add_figure_output(CLI::App& command, std::string& output);
/// Error where this build could not write it; asked before a long measurement, not after.
void check_figure_output(const std::string& output);
/// A page or a chart, by the file's name.
void write_figure(const figures::Figure& figure, const std::string& output);
/// On standard output, `width` columns wide, or as wide as the terminal.
void draw_figure(const figures::Figure& figure, std::optional<std::int64_t> width = {});
/// The chart as a file holds it.
std::string vega_lite_text(const figures::Figure& figure);
/// For commands whose figure is not all they print: writes the file and says so on standard error; without a name,
/// draws unless `quiet`.
void put_figure(const figures::Figure& figure, const std::string& output, bool quiet);

}  // namespace locus::tools
