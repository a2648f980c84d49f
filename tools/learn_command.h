// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "command.h"

namespace locus::tools {

/// Adds `locus learn` and its subcommands.
void add_learn_command(CLI::App& app);

}  // namespace locus::tools
