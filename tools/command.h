// SPDX-License-Identifier: Apache-2.0
// Shared by the subcommands of `locus`: adding them, ending them, printing JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace locus::tools {

/// Thrown by a command whose check failed: exit code 1, and no message on standard error.
struct CheckFailed {};

using Json = nlohmann::ordered_json;

/// Prints one JSON object on standard output, with enough digits to read numbers back exactly.
void print_json(const Json& object);

// One function per subcommand, one file each. Each adds the subcommand to `app` and sets its callback; bad input
// leaves the callback as locus::Error, which main turns into one line on standard error and exit code 2.
void add_list_command(CLI::App& app);
void add_show_command(CLI::App& app);
void add_apply_command(CLI::App& app);
void add_attend_command(CLI::App& app);
void add_bias_command(CLI::App& app);
void add_resize_command(CLI::App& app);
void add_convert_command(CLI::App& app);
void add_positions_command(CLI::App& app);
void add_lint_command(CLI::App& app);
void add_bench_command(CLI::App& app);
void add_verify_command(CLI::App& app);
void add_diagnose_command(CLI::App& app);
void add_lab_command(CLI::App& app);
void add_probe_command(CLI::App& app);
void add_report_command(CLI::App& app);
void add_plot_command(CLI::App& app);
void add_completion_command(CLI::App& app);
void add_man_command(CLI::App& app);

}  // namespace locus::tools
