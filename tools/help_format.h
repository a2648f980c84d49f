// SPDX-License-Identifier: Apache-2.0
// Help texts as wide as the terminal. Shared by `locus`, `locus-lab` and `locus-mpi`.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

namespace locus::tools {

/// Wraps descriptions and paragraphs at the width of the terminal, at most 120 columns. Examples stay on their lines,
/// so that they can be copied. Set it before commands are added: they inherit it.
std::shared_ptr<CLI::FormatterBase> wrapping_help();

/// What CLI11 says of a command line that it did not understand, with the word, which its message may omit.
std::string text_of(const CLI::ParseError& error, const CLI::App& app);

/// `locus probe loss --help`: the help of the command that was being parsed.
std::string help_command(const CLI::App& app);

}  // namespace locus::tools
