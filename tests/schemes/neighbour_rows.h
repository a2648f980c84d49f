// SPDX-License-Identifier: Apache-2.0
// Rows that are made from neighbours, for the properties of schemes.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "locus/encoding.h"
#include "locus/reference.h"

namespace locus::testing {

// Rows of `count` tokens with consecutive ids, from neighbours.
inline std::vector<double> rows_of_first(const Encoding& encoding, std::int64_t count, Position start = 7) {
  std::vector<Position> ids(static_cast<std::size_t>(count));
  std::iota(ids.begin(), ids.end(), start);
  std::vector<double> states;
  for (std::int64_t i = 0; i < count * encoding.hidden().dim; ++i) states.push_back(std::sin(static_cast<double>(i)));
  return reference::add_rows(encoding.hidden(), ids, states);
}

}  // namespace locus::testing
