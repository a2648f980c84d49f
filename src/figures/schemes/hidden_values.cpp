// SPDX-License-Identifier: Apache-2.0
#include "figures/schemes/hidden_values.h"

#include <algorithm>

#include "figures/spec.h"
#include "locus/rows.h"

namespace locus::figures {

std::vector<std::vector<double>> hidden_rows(const Encoding& encoding, const std::vector<Position>& positions) {
  const HiddenRows& hidden = encoding.hidden();
  encoding.check_positions(positions);
  std::vector<std::vector<double>> rows;
  for (const Position position : positions) {
    rows.emplace_back(static_cast<std::size_t>(hidden.dim));
    hidden_row(hidden, position, rows.back());
  }
  return rows;
}

std::vector<Position> positions_or(const Request& request, std::int64_t count) {
  if (!request.positions.empty()) return request.positions;
  const PositionRange accepted = request.encodings.front().encoding.position_range();
  const Position first = std::max<Position>(accepted.first, 0);
  return range(first, std::min(accepted.last, first + count - 1));
}

std::string random_weights_note(const Encoding& encoding, const Words& words) {
  if (!encoding.arguments().has("seed")) return "";  // no random weights
  for (const auto& [name, value] : encoding.arguments().all()) {
    if (std::holds_alternative<Tensor>(value)) return "";
  }
  return words(Message::random_weights);
}

}  // namespace locus::figures
