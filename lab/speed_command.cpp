// SPDX-License-Identifier: Apache-2.0
#include "speed_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

#include "failure.h"
#include "help_format.h"
#include "locus/error.h"
#include "locus/settings.h"
#include "model/blas.h"
#include "model/speed.h"
#include "results/json.h"
#include "run/presets.h"

namespace locus::lab {
namespace {

struct SpeedRequest {
  std::string preset = "standard", task = "verbs";
  std::vector<std::string> schemes;
  double seconds = 2;
  bool json = false;
};

/// Returns the budget of the task in the preset.
TrialSpec spec_of(const SpeedRequest& request) {
  const Budget& budget = find_budget(request.preset, request.task);
  TrialSpec spec;
  spec.task = request.task;
  spec.trained_length = budget.trained_length;
  spec.lengths = {budget.trained_length};
  spec.batch = budget.batch;
  spec.learning_rate = budget.learning_rate;
  spec.model = budget.model;
  return spec;
}

results::Speed summary_of(const TrialSpec& spec, const std::vector<SpeedOfScheme>& speeds) {
  results::Speed summary{.task = spec.task, .ratio = mean_ratio(speeds), .schemes = {}};
  for (const SpeedOfScheme& one : speeds) {
    results::SchemeSpeed& added = summary.schemes.emplace_back();
    added.scheme = one.scheme;
    added.steps_per_second = one.steps_per_second;
    if (one.torch_steps_per_second <= 0) continue;
    added.torch_steps_per_second = one.torch_steps_per_second;
    added.ratio = one.ratio();
  }
  return summary;
}

void print_table(const std::vector<SpeedOfScheme>& speeds) {
  std::printf("training steps per second of processor time, one thread\n");
  std::printf("%-24s %10s %10s %8s\n", "scheme", "locus", "torch", "ratio");
  for (const SpeedOfScheme& speed : speeds) {
    if (speed.torch_steps_per_second > 0) {
      std::printf("%-24s %10.1f %10.1f %8.2f\n", speed.scheme.c_str(), speed.steps_per_second,
                  speed.torch_steps_per_second, speed.ratio());
    } else {
      std::printf("%-24s %10.1f %10s %8s\n", speed.scheme.c_str(), speed.steps_per_second, "-", "-");
    }
  }
  std::printf("geometric mean of the ratios: %.2f\n", mean_ratio(speeds));
}

int run(SpeedRequest request) {
  require_fast_blas();
  std::vector<std::string> schemes;
  for (const std::string& given : request.schemes) {
    for (std::string& one : split_spellings(given)) schemes.push_back(std::move(one));
  }
  if (schemes.empty()) schemes = find_preset(request.preset).schemes;
  const TrialSpec spec = spec_of(request);
  const std::vector<SpeedOfScheme> speeds = compare_speed(spec, schemes, request.seconds);
  if (request.json) {
    std::cout << results::to_json(summary_of(spec, speeds)).dump() << '\n';
  } else {
    print_table(speeds);
  }
  return 0;
}

}  // namespace

int speed_main(int argc, char** argv) {
  SpeedRequest request;
  CLI::App app{
      "Compare training steps per second on the library's kernels and in torch's own operations, with the same weights "
      "and data.",
      "locus-lab speed"};
  app.formatter(tools::wrapping_help());
  app.add_option("--preset", request.preset, "Preset that sets model and batch")->capture_default_str();
  app.add_option("--task", request.task, "Task to train")->capture_default_str();
  app.add_option("--schemes", request.schemes, "Schemes, as in locus lab (default: those of the preset)")
      ->allow_extra_args(false);
  app.add_option("--seconds", request.seconds, "Processor time per scheme")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 3600.0));
  app.add_flag("--json", request.json, "Print one JSON object");
  app.footer("Example: locus-lab speed --schemes rope,alibi,t5");
  const auto refuse = [json = tools::asks_for_json(argc, argv)](tools::Failure failure) {
    failure.program = "locus-lab speed";
    return tools::report(failure, json);
  };
  try {
    app.parse(argc - 1, argv + 1);
    return run(request);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return refuse({.message = error.what(), .help = tools::help_command(app)});
  } catch (const Error& error) {
    return refuse({.message = error.what()});
  }
}

results::Speed measured_speed(const TrialSpec& spec, const std::vector<std::string>& schemes) {
  return summary_of(spec, compare_speed(spec, schemes, 0.3));
}

}  // namespace locus::lab
