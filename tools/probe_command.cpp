// SPDX-License-Identifier: Apache-2.0
// `locus probe`: runs real models on Locus's rotation, attention and cache. Each subcommand has its own file.
#include "command.h"
#include "probe_options.h"

namespace locus::tools {

void add_probe_command(CLI::App& app) {
  CLI::App* probe = app.add_subcommand("probe", "Run and measure a trained model with its own encoding or another");
  probe->require_subcommand(1);
  add_probe_generate(*probe);
  add_probe_loss(*probe);
  add_probe_retrieve(*probe);
  add_probe_attention(*probe);
  add_probe_check(*probe);
  add_probe_logits(*probe);
  probe->footer("Example: locus probe generate model.gguf --prompt \"Once upon a time\" --max-tokens 100");
}

}  // namespace locus::tools
