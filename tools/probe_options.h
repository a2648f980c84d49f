// SPDX-License-Identifier: Apache-2.0
// Options shared by the subcommands of `locus probe`: model, tokenizer, encoding and threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "probe/model.h"
#include "probe/tokenizers/tokenizer.h"

namespace locus::tools {

// One function per subcommand of `probe`, one file each.
void add_probe_generate(CLI::App& probe);
void add_probe_loss(CLI::App& probe);
void add_probe_retrieve(CLI::App& probe);
void add_probe_attention(CLI::App& probe);
void add_probe_check(CLI::App& probe);
void add_probe_logits(CLI::App& probe);

struct ProbeOptions {
  std::string model;
  std::string tokenizer;
  std::string encoding;
  std::string rule;
  std::optional<double> factor;
  std::vector<std::string> settings;
  std::optional<std::int64_t> threads;
  std::optional<std::int64_t> window;
  probe::Placement placement;
};

/// Adds MODEL, --tokenizer, --window and --threads.
void add_model_options(CLI::App& command, ProbeOptions& options);
/// Adds --encoding, --rope-rule, --rope-factor and --rope-set.
void add_rule_options(CLI::App& command, ProbeOptions& options);

/// Adds --first-position and --query-ahead.
void add_placement_options(CLI::App& command, ProbeOptions& options);

/// Loads MODEL; --window replaces its window.
probe::Model load_model(const ProbeOptions& options);
/// Reads --tokenizer, or the model's: inside a GGUF file, or in the folder of the weights.
std::unique_ptr<probe::Tokenizer> read_tokenizer_of(const ProbeOptions& options, const probe::Model& model);
/// Returns the model's encoding, or the one that the options choose.
Encoding choose_rule(const ProbeOptions& options, const probe::Model& model);
int threads_of(const ProbeOptions& options);

}  // namespace locus::tools
