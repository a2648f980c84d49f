// SPDX-License-Identifier: Apache-2.0
// Rows of the hidden site, for figures.
#pragma once

#include <vector>

#include "figures/registry.h"
#include "messages/words.h"

namespace locus::figures {

/// Returns the row added at each of these positions, in double. Error: a position that the encoding does not accept.
std::vector<std::vector<double>> hidden_rows(const Encoding& encoding, const std::vector<Position>& positions);

/// Returns the requested positions, or else those of 0 .. count - 1 that the encoding accepts.
std::vector<Position> positions_or(const Request& request, std::int64_t count);

/// Returns the sentence `random_weights` if the encoding's weights are random; empty otherwise.
std::string random_weights_note(const Encoding& encoding, const Words& words);

}  // namespace locus::figures
