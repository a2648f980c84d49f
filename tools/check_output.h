// SPDX-License-Identifier: Apache-2.0
// Checks of a verification as text and as JSON.
#pragma once

#include <span>

#include "command.h"
#include "locus/doctor/check.h"

namespace locus::tools {

/// {name, scheme, value, bound, relation, passed, pass, note}. `relation` says what the value had to be to the bound:
/// at_most or at_least, equal if both hold, null without a number. JSON has no infinity: such numbers are null.
Json check_json(const Check& check);

/// Prints one line: whether it passed, its name, the value, and the bound as an upper or a lower one.
void print_check(const Check& check);

/// Prints one line per scheme: how many checks of its encodings passed and which came closest to its bound. Failed
/// checks follow in full.
void print_summaries(std::span<const Check> checks);

}  // namespace locus::tools
