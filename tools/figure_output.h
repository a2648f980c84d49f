// SPDX-License-Identifier: Apache-2.0
// Outputs a figure: as a page, as a Vega-Lite file, or in the terminal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "command.h"
#include "figures/figure.h"

namespace locus::tools {

/// Adds -o.
void add_figure_output(CLI::App& command, std::string& output);
/// Error: a file that this build cannot write. Call it before a long measurement.
void check_figure_output(const std::string& output);
/// Writes a page or a chart, by the extension of the file.
void write_figure(const figures::Figure& figure, const std::string& output);
/// Draws on standard output, `width` columns wide, or as wide as the terminal.
void draw_figure(const figures::Figure& figure, std::optional<std::int64_t> width = {});
/// Returns the text of a Vega-Lite file.
std::string vega_lite_text(const figures::Figure& figure);
/// For commands that print more than a figure: writes the file and says so on standard error; without a name, draws
/// unless `quiet`.
void put_figure(const figures::Figure& figure, const std::string& output, bool quiet);

}  // namespace locus::tools
