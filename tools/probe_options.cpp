// SPDX-License-Identifier: Apache-2.0
#include "probe_options.h"

#include <algorithm>
#include <filesystem>
#include <thread>

#include "locus/error.h"
#include "locus/scaling.h"
#include "locus/settings.h"
#include "position_list.h"

namespace locus::tools {
namespace {

namespace fs = std::filesystem;

/// llama2.c keeps its tokenizer in a file of its own: tokenizer.bin, or tok512.bin and the like.
fs::path tokenizer_beside(const fs::path& model) {
  const fs::path folder = fs::is_directory(model) ? model : model.parent_path();
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? fs::path(".") : folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("tok") && name.ends_with(".bin")) found.push_back(entry.path());
  }
  require(found.size() == 1, model.string(), ": which tokenizer? Beside it there are ", found.size(),
          " files tok*.bin; give one with --tokenizer");
  return found.front();
}

}  // namespace

void add_model_options(CLI::App& command, ProbeOptions& options) {
  command.add_option("MODEL", options.model, "A llama2.c .bin, a GGUF file, or the folder of a Hugging Face model")
      ->required();
  command.add_option("--tokenizer", options.tokenizer,
                     "tokenizer.json, tokenizer.bin or a GGUF file; absent: the model's own");
  add_integer(command, "--threads", options.threads, "Threads to compute with; absent: one per processor");
}

void add_rule_options(CLI::App& command, ProbeOptions& options) {
  command.add_option("--rope-rule", options.rule, "A frequency rule of `locus list`, in place of the model's own");
  command.add_option("--rope-factor", options.factor, "The rule's factor, e.g. 4 for four times the trained length");
  command.add_option("--rope-set", options.settings, "name=value, any other parameter of the rule; repeatable")
      ->type_name("NAME=VALUE")
      ->take_all()
      ->expected(1, 1000)
      ->allow_extra_args(false);
}

std::unique_ptr<probe::Tokenizer> read_tokenizer_of(const ProbeOptions& options, const probe::Model& model) {
  fs::path path = options.tokenizer.empty() ? options.model : options.tokenizer;
  if (options.tokenizer.empty() && model.config().format == "llama2c") path = tokenizer_beside(options.model);
  if (path.filename() == "config.json") path = path.parent_path();
  return probe::read_tokenizer(path, static_cast<std::int32_t>(model.config().vocab));
}

Encoding choose_rule(const ProbeOptions& options, const probe::Model& model) {
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
  return probe::under_rule(model, options.rule, given);
}

int threads_of(const ProbeOptions& options) {
  const std::int64_t threads = options.threads.value_or(std::max(1U, std::thread::hardware_concurrency()));
  require(threads >= 1 && threads <= 1024, "--threads must be from 1 to 1024, got ", threads);
  return static_cast<int>(threads);
}

}  // namespace locus::tools
