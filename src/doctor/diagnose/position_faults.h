// SPDX-License-Identifier: Apache-2.0
// Names the fault behind positions that differ from the intended ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "locus/position_ids.h"

namespace locus::doctor {

struct PositionFault {
  std::string name;  ///< an id of the catalogue; empty: no difference
  std::string text;
};

/// Both arrays are [batch, tokens].
PositionFault name_position_fault(const std::vector<Position>& meant, const std::vector<Position>& used,
                                  std::int64_t tokens);

/// Formats runs: "tokens 2 to 15 are", "head 3 is".
std::string runs_of(const std::string& what, std::vector<std::int64_t> members);

}  // namespace locus::doctor
