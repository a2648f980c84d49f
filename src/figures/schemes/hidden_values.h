// SPDX-License-Identifier: Apache-2.0
// Rows of the hidden site as figures need them.
#pragma once

#include <vector>

#include "figures/registry.h"
#include "messages/words.h"

namespace locus::figures {

/// The row added at each of these positions, in double; Error for positions that the encoding does not accept.
std::vector<std::vector<double>> hidden_rows(const Encoding& encoding, const std::vector<Position>& positions);

/// The positions asked for, else 0 .. count - 1 as far as the encoding goes.
std::vector<Position> positions_or(const Request& request, std::int64_t count);

/// ` Its weights are random: no trained ones were given.` where that is so.
std::string random_weights_note(const Encoding& encoding, const Words& words);

}  // namespace locus::figures
