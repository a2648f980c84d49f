// SPDX-License-Identifier: Apache-2.0
#include "text_command.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <iostream>
#include <string>

#include "failure.h"
#include "help_format.h"
#include "locus/error.h"
#include "task.h"

namespace locus::lab {
namespace {

struct TextRequest {
  std::string task = "verbs";
  std::int64_t length = 1024;
  std::uint64_t seed = 1;
};

int run(const TextRequest& request) {
  const std::unique_ptr<Task> task = make_task(request.task);
  const TaskDescription& description = task->description();
  require(!description.characters.empty(), "the tokens of the task ", request.task, " are not characters");
  Random random(request.seed);
  for (const TestSet& set : task->tests(random, 1, request.length)) {
    if (set.name != description.main) continue;
    for (const std::int32_t token : set.batch.tokens) {
      std::cout << description.characters[static_cast<std::size_t>(token)];
    }
  }
  return 0;
}

}  // namespace

int text_main(int argc, char** argv) {
  TextRequest request;
  CLI::App app{"Print a test sequence of a task, which no model saw in training, as text.", "locus lab text"};
  app.formatter(tools::wrapping_help());
  app.add_option("TASK", request.task, "A task whose tokens are characters")->capture_default_str();
  app.add_option("--length", request.length, "Number of characters")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000000));
  app.add_option("--seed", request.seed, "Seed of the sequence")->capture_default_str();
  app.footer("Example: locus lab text verbs --length 512 > verbs.txt");
  const auto refuse = [&](tools::Failure failure) {
    failure.program = "locus lab text";
    return tools::report(failure, tools::asks_for_json(argc, argv));
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

}  // namespace locus::lab
