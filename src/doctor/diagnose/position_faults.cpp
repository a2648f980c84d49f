// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/position_faults.h"

#include <algorithm>
#include <cstdlib>

#include "doctor/diagnose/explanations.h"

namespace locus::doctor {
namespace {

using Positions = std::vector<Position>;

bool all_of_rows(std::int64_t rows, const auto& holds) {
  for (std::int64_t row = 0; row < rows; ++row) {
    if (!holds(static_cast<std::size_t>(row))) return false;
  }
  return true;
}

// The first token whose position starts again, within a batch row; 0 for none.
std::size_t restart(const Positions& p, std::size_t tokens) {
  for (std::size_t n = 1; n < p.size(); ++n) {
    if (n % tokens != 0 && p[n] < p[n - 1]) return n;
  }
  return 0;
}

// Leading tokens of equal position: padding, whose positions are held.
std::size_t padding(const Positions& p, std::size_t tokens, std::size_t row) {
  std::size_t count = 1;
  while (count < tokens && p[row + count] == p[row]) ++count;
  return count == 1 ? 0 : count - 1;  // the first real token may share the position of the padding
}

bool counts_from_zero(const Positions& p, std::size_t tokens) {
  for (std::size_t n = 0; n < p.size(); ++n) {
    if (p[n] != static_cast<Position>(n % tokens)) return false;
  }
  return true;
}

std::string from_to(const Positions& meant, const Positions& used) {
  return "meant " + describe_positions(meant) + ", used " + describe_positions(used);
}

}  // namespace

PositionFault name_position_fault(const Positions& meant, const Positions& used, std::int64_t tokens) {
  if (meant == used) return {};
  const auto rows = static_cast<std::int64_t>(meant.size());
  const auto length = static_cast<std::size_t>(tokens);
  const std::string both = from_to(meant, used);
  if (all_of_rows(rows, [&](std::size_t n) { return used[n] == 0; })) {
    return {"positions_all_zero", "every token was rotated as if at position 0; " + both};
  }
  const Position shift = used[0] - meant[0];
  if (all_of_rows(rows, [&](std::size_t n) { return used[n] == meant[n] + shift; })) {
    return {"position_offset", "positions are off by " + std::to_string(shift) + " everywhere; " + both};
  }
  if (all_of_rows(rows, [&](std::size_t n) { return used[n] == used[0]; })) {
    return {"positions_constant", "every token was rotated as if at position " + std::to_string(used[0]) + "; " + both};
  }
  if (all_of_rows(rows, [&](std::size_t n) { return used[n] == -meant[n]; })) {
    return {"positions_negated", "positions are negated; " + both};
  }
  if (all_of_rows(rows, [&](std::size_t n) { return used[n] == 2 * meant[n]; })) {
    return {"positions_doubled", "positions are doubled; " + both};
  }
  for (std::size_t ratio = 2; ratio <= 64 && ratio < length; ++ratio) {
    const auto slowed = [&](std::size_t n) { return used[n] == meant[n / length * length + n % length / ratio]; };
    if (!all_of_rows(rows, slowed)) continue;
    return {"heads_miscounted", "positions advance once in " + std::to_string(ratio) +
                                    " tokens, as if a token had so many times its heads (keys with the queries' head "
                                    "count?); " +
                                    both};
  }
  bool padded = false;
  for (std::size_t row = 0; row < meant.size(); row += length) padded = padded || padding(meant, length, row) > 0;
  if (padded && counts_from_zero(used, length)) {
    return {"padding_counted", "padding was counted: positions run from the first token of the row; " + both};
  }
  const std::size_t meant_restart = restart(meant, length);
  const std::size_t used_restart = restart(used, length);
  if (meant_restart != 0 && used_restart == 0) {
    return {"positions_not_reset", "positions run on where a packed sequence starts, at token " +
                                       std::to_string(meant_restart % length) + "; " + both};
  }
  if (used_restart != 0 && meant_restart == 0) {
    return {"positions_reset",
            "positions start again at token " + std::to_string(used_restart % length) + ", as if packed; " + both};
  }
  std::size_t first = 0;
  while (first < meant.size() && used[first] == meant[first]) ++first;
  const Position later = used[first] - meant[first];
  const auto from_on = [&](std::size_t n) {
    const bool after = n % length >= first % length && n / length >= first / length;
    return used[n] == meant[n] + (after ? later : 0);
  };
  if (all_of_rows(rows, from_on)) {
    return {"position_offset_from", "positions are off by " + std::to_string(later) + " from token " +
                                        std::to_string(first % length) + " on; " + both};
  }
  return {"positions_differ", "positions differ from token " + std::to_string(first % length) + " on; " + both};
}

}  // namespace locus::doctor
