// SPDX-License-Identifier: Apache-2.0
// The `locus` command. Each subcommand has its own file; this one lists them, run_commands.h handles errors.
#include "ending_signals.h"
#include "learn_command.h"
#include "run_commands.h"

int main(int argc, char** argv) {
  using namespace locus::tools;
  const std::vector<CommandGroup> groups = {
      {"Inspect", {add_list_command, add_show_command, add_plot_command, add_positions_command, add_bias_command}},
      {"Check", {add_diagnose_command, add_verify_command, add_lint_command}},
      {"Run", {add_apply_command, add_attend_command, add_convert_command, add_resize_command}},
      {"Measure", {add_probe_command, add_lab_command, add_report_command, add_bench_command}},
      {"Learn", {add_learn_command}},
      {"", {add_completion_command, add_man_command}},
  };
  tidy_up_on_signals();
  return run_commands(groups, argc, argv);
}
