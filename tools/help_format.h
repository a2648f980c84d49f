// SPDX-License-Identifier: Apache-2.0
// Help texts as wide as the terminal. Shared by `locus` and `locus-lab`.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace locus::tools {

/// Wraps descriptions and paragraphs at the width of the terminal, at most 120 columns. Examples stay on their lines,
/// so that they can be copied. Set it before commands are added: they inherit it.
std::shared_ptr<CLI::FormatterBase> wrapping_help();

/// `locus probe loss --help`: the help of the command that was being parsed.
std::string help_command(const CLI::App& app);

}  // namespace locus::tools
