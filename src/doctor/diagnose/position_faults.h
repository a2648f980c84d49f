// SPDX-License-Identifier: Apache-2.0
// Names for the ways in which the positions that were used differ from those that were meant.
#pragma once

#include <string>
#include <vector>

#include "locus/position_ids.h"

namespace locus::doctor {

struct PositionFault {
  std::string name;  ///< empty: they do not differ
  std::string text;
};

/// Both [batch rows, tokens].
PositionFault name_position_fault(const std::vector<Position>& meant, const std::vector<Position>& used,
                                  std::int64_t tokens);

}  // namespace locus::doctor
