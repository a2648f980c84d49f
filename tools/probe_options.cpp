// SPDX-License-Identifier: Apache-2.0
#include "probe_options.h"

#include <algorithm>
#include <thread>

#include "locus/error.h"
#include "locus/scaling.h"
#include "locus/settings.h"
#include "locus/stretch.h"
#include "position_list.h"

namespace locus::tools {

void add_model_options(CLI::App& command, ProbeOptions& options) {
  command
      .add_option("MODEL", options.model, "A GGUF file, a llama2.c checkpoint, or the folder of a Hugging Face model")
      ->required();
  command.add_option(
      "--tokenizer", options.tokenizer,
      "Read the tokenizer from a tokenizer.json, a tokenizer.bin or a GGUF file; absent: the model's own");
  add_integer(
      command, "--window", options.window,
      "Let each token see this many keys, including itself; 0: all before it; absent: as the model was trained");
  add_integer(command, "--threads", options.threads, "Compute with this many threads; absent: one per processor");
}

void add_rule_options(CLI::App& command, ProbeOptions& options) {
  command
      .add_option("--encoding", options.encoding,
                  "Use this encoding instead of the model's: rope:rule=yarn,factor=4, yarn:4, @config.json")
      ->type_name("ENCODING");
  command.add_option("--rope-rule", options.rule, "Use this rule of `locus list` instead of the model's");
  command.add_option("--rope-factor", options.factor,
                     "Set the rule's factor, such as 4 for four times the trained length");
  command.add_option("--rope-set", options.settings, "Set any other parameter of the rule; repeatable")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->expected(1, 1000)
      ->allow_extra_args(false);
}

void add_placement_options(CLI::App& command, ProbeOptions& options) {
  add_integer(command, "--first-position", options.placement.first,
              "Give the first token this position, as an engine that counts from 1 would; absent: 0");
  add_integer(command, "--query-ahead", options.placement.query_ahead,
              "Move queries, not keys, this many positions ahead: a fault, to see its effect; absent: 0");
}

probe::Model load_model(const ProbeOptions& options) {
  require(options.window.value_or(0) >= 0, "--window must be at least 0, got ", options.window.value_or(0));
  return probe::load(options.model, options.window);
}

std::unique_ptr<probe::Tokenizer> read_tokenizer_of(const ProbeOptions& options, const probe::Model& model) {
  const auto vocab = static_cast<std::int32_t>(model.config().vocab);
  return options.tokenizer.empty() ? probe::read_model_tokenizer(options.model, vocab)
                                   : probe::read_tokenizer(options.tokenizer, vocab);
}

Encoding choose_rule(const ProbeOptions& options, const probe::Model& model) {
  if (!options.encoding.empty()) {
    require(options.rule.empty() && !options.factor && options.settings.empty(),
            "give either --encoding or --rope-rule with its settings, not both");
    return probe::encoding_for(model, options.encoding);
  }
  if (options.rule.empty()) {
    require(!options.factor && options.settings.empty(), "--rope-factor and --rope-set need --rope-rule");
    return model.encoding();
  }
  const Rule& rule = find_rule(options.rule);
  Arguments given;
  if (options.factor) given.set("factor", *options.factor);
  for (const Setting& setting : parse_setting_list("--rope-set", options.settings)) {
    require(!given.has(setting.name), "--rope-set ", setting.name, " is given twice");
    const Parameter& parameter = find_parameter(rule.name, rule.parameters, setting.name);
    given.set(setting.name, parse_value(rule.name, parameter, setting.text));
  }
  return with_rule(model.encoding(), options.rule, {.trained = model.config().trained_length}, given);
}

int threads_of(const ProbeOptions& options) {
  const std::int64_t threads = options.threads.value_or(std::max(1U, std::thread::hardware_concurrency()));
  require(threads >= 1 && threads <= 1024, "--threads must be from 1 to 1024, got ", threads);
  return static_cast<int>(threads);
}

}  // namespace locus::tools
