// SPDX-License-Identifier: Apache-2.0
// The rows of all key heads of an encoding that mixes frequencies head by head.
#pragma once

#include <span>

#include "locus/site.h"

namespace locus {

/// What head_row() returns for every key head, with the row that is mixed computed once: [heads][cos | sin].
void head_rows(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> rows);

}  // namespace locus
