// SPDX-License-Identifier: Apache-2.0
// `locus probe check`: checks that the same tokens give the same logits, however they are read.
#include <iostream>
#include <memory>

#include "base/random.h"
#include "check_output.h"
#include "locus/error.h"
#include "position_list.h"
#include "probe/measure/model_check.h"
#include "probe_options.h"

namespace locus::tools {
namespace {

struct CheckRequest {
  ProbeOptions options;
  std::int64_t length = 64;
  std::int64_t seed = 0;
  bool json = false;
};

/// Any tokens will do, since two readings of them are compared.
std::vector<probe::Token> some_tokens(const probe::Model& model, std::int64_t length, std::int64_t seed) {
  Random random(static_cast<std::uint64_t>(seed));
  std::vector<probe::Token> tokens;
  for (std::int64_t i = 0; i < length; ++i) {
    tokens.push_back(static_cast<probe::Token>(random.below(model.config().vocab)));
  }
  return tokens;
}

void run(const CheckRequest& request) {
  require(request.length >= 8, "--length must be at least 8, got ", request.length);
  require(request.seed >= 0, "--seed must be at least 0, got ", request.seed);
  const probe::Model model = load_model(request.options);
  require(request.length - 1 <= model.encoding().position_range().last, "--length ", request.length,
          " exceeds the positions of this model (", model.encoding().position_range().last + 1, ")");
  ThreadPool pool(threads_of(request.options));
  const std::vector<Check> checks = probe::check_model(model, some_tokens(model, request.length, request.seed), &pool);
  const std::int64_t failures = failed(checks);
  const std::int64_t passed = std::ssize(checks) - failures;
  if (request.json) {
    Json rows = Json::array();
    for (const Check& check : checks) {
      rows.push_back(check_json(check));
    }
    print_json({{"model", request.options.model}, {"checks", rows}, {"passed", passed}, {"failed", failures}});
  } else {
    for (const Check& check : checks) {
      print_check(check);
    }
    std::cout << passed << " passed, " << failures << " failed\n";
  }
  if (failures > 0) throw CheckFailed();
}

}  // namespace

void add_probe_check(CLI::App& probe) {
  CLI::App* command =
      probe.add_subcommand("check", "Check that the same tokens give the same logits, however they are read");
  const auto request = std::make_shared<CheckRequest>();
  add_model_options(*command, request->options);
  add_integer(*command, "--length", request->length, "Read this many tokens; absent: 64");
  add_integer(*command, "--seed", request->seed, "Seed the tokens; absent: 0");
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "Reads them all at once, one at a time, in chunks, left padded, packed with another sequence, and through a "
      "forked\n"
      "cache. The bound is the effect of another order of float32 sums on a logit. Exit code 1: a check failed.\n"
      "Example: locus probe check model.gguf");
  command->callback([request] { run(*request); });
}

}  // namespace locus::tools
