// SPDX-License-Identifier: Apache-2.0
// Names for positions that are not those meant.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "locus/position_ids.h"

namespace locus::doctor {

struct PositionFault {
  std::string name;  ///< an id of the catalogue; empty: they do not differ
  std::string text;
};

/// Both [batch, tokens].
PositionFault name_position_fault(const std::vector<Position>& meant, const std::vector<Position>& used,
                                  std::int64_t tokens);

/// "tokens 2 to 15 are", "head 3 is".
std::string runs_of(const std::string& what, std::vector<std::int64_t> members);

}  // namespace locus::doctor
