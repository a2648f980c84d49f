// SPDX-License-Identifier: Apache-2.0
#include "attention/region_turns.h"

#include <algorithm>
#include <cmath>

namespace locus {

RegionTurns::RegionTurns(const Problem& problem, const Document& document, bool with_rows)
    : document_(document), rotation_(problem.remapped()) {
  if (rotation_ == nullptr) return;
  map_ = &*rotation_->offsets;
  for (std::size_t r = 0; r + 1 < map_->regions.size(); ++r) {
    std::vector<Position>& first = first_key_.emplace_back();
    for (const Position query : document.query_ids) first.push_back(map_->regions[r].first_key(query));
  }
  if (!with_rows) return;
  fill(query_rows_, document.queries, true);
  fill(key_rows_, document.keys, false);
}

std::size_t RegionTurns::region_of(std::int64_t query, std::int64_t key) const {
  const Position id = document_.key_ids[static_cast<std::size_t>(key)];
  std::size_t region = 0;
  while (region < first_key_.size() && id < first_key_[region][static_cast<std::size_t>(query)]) ++region;
  return region;
}

std::uint32_t RegionTurns::regions_of(std::int64_t first_query, std::int64_t rows, std::int64_t first_key,
                                      std::int64_t columns, std::vector<std::uint8_t>& regions) const {
  const auto bit = [](std::size_t region) { return std::uint32_t{1} << region; };
  // Where ids advance, the farthest pair and the nearest tell whether a tile is in one region; so do both ends of a row.
  const std::size_t farthest = region_of(first_query + rows - 1, first_key);
  if (document_.ids_advance && farthest == region_of(first_query, first_key + columns - 1)) return bit(farthest);
  std::uint32_t found = 0;
  regions.resize(static_cast<std::size_t>(rows * columns));
  for (std::int64_t i = 0; i < rows; ++i) {
    std::uint8_t* row = regions.data() + i * columns;
    const std::size_t left = region_of(first_query + i, first_key);
    if (document_.ids_advance && left == region_of(first_query + i, first_key + columns - 1)) {
      std::fill_n(row, columns, static_cast<std::uint8_t>(left));
      found |= bit(left);
      continue;
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::size_t region = region_of(first_query + i, first_key + c);
      row[c] = static_cast<std::uint8_t>(region);
      found |= bit(region);
    }
  }
  return found;
}

double RegionTurns::query_change(std::size_t region, std::int64_t query) const {
  const Position id = document_.query_ids[static_cast<std::size_t>(query)];
  const Position moved = map_->regions[region].query_at(id) - id * map_->denominator;
  return static_cast<double>(moved) / static_cast<double>(map_->denominator);
}

double RegionTurns::key_change(std::size_t region, std::int64_t key) const {
  const Position id = document_.key_ids[static_cast<std::size_t>(key)];
  const Position moved = map_->regions[region].key_at(id) - id * map_->denominator;
  return static_cast<double>(moved) / static_cast<double>(map_->denominator);
}

// Rotated vectors have the pairs (i, i + pairs), or (2i, 2i + 1) if the output is interleaved.
bool RegionTurns::neighbours() const {
  return rotation_->pairing == Pairing::interleaved && !rotation_->deinterleaved_output;
}

void RegionTurns::turn(double change, std::vector<double>& row) const {
  if (change == 0) return;
  const auto pairs = static_cast<std::size_t>(rotation_->pairs());
  double* at = row.data() + rotation_->rotary_offset;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double angle = change * rotation_->inv_freq[i] + change * rotation_->inv_freq_low[i];
    const double cos = std::cos(angle), sin = std::sin(angle);
    double& x = at[neighbours() ? 2 * i : i];
    double& y = at[neighbours() ? 2 * i + 1 : i + pairs];
    const double a = x, b = y;
    x = a * cos - b * sin;
    y = a * sin + b * cos;
  }
}

void RegionTurns::turn(const float* cos_sin, float* row, Direction direction) const {
  const auto pairs = static_cast<std::size_t>(rotation_->pairs());
  row += rotation_->rotary_offset;
  const std::size_t step = neighbours() ? 2 : 1, apart = neighbours() ? 1 : pairs;
  const float sign = direction == Direction::forward ? 1.0f : -1.0f;
  for (std::size_t i = 0; i < pairs; ++i) {
    float& x = row[step * i];
    float& y = row[step * i + apart];
    const float a = x, b = y, cos = cos_sin[i], sin = sign * cos_sin[pairs + i];
    x = a * cos - b * sin;
    y = a * sin + b * cos;
  }
}

// If a region keeps the token's position, cos is 1 and sin is 0.
void RegionTurns::fill(std::vector<float>& rows, std::int64_t tokens, bool queries) const {
  const auto pairs = static_cast<std::size_t>(rotation_->pairs());
  rows.reserve(regions() * static_cast<std::size_t>(tokens) * 2 * pairs);
  for (std::size_t region = 0; region < regions(); ++region) {
    for (std::int64_t t = 0; t < tokens; ++t) {
      const double change = queries ? query_change(region, t) : key_change(region, t);
      const auto angle = [&](std::size_t i) {
        return change * rotation_->inv_freq[i] + change * rotation_->inv_freq_low[i];
      };
      const bool stays = change == 0;
      for (std::size_t i = 0; i < pairs; ++i) rows.push_back(stays ? 1.0f : static_cast<float>(std::cos(angle(i))));
      for (std::size_t i = 0; i < pairs; ++i) rows.push_back(stays ? 0.0f : static_cast<float>(std::sin(angle(i))));
    }
  }
}

void RegionTurns::turn_query(std::size_t region, std::int64_t query, float* row, Direction direction) const {
  if (!present()) return;
  const std::int64_t at = static_cast<std::int64_t>(region) * document_.queries + query;
  turn(query_rows_.data() + at * 2 * rotation_->pairs(), row, direction);
}
void RegionTurns::turn_key(std::size_t region, std::int64_t key, float* row, Direction direction) const {
  if (!present()) return;
  const std::int64_t at = static_cast<std::int64_t>(region) * document_.keys + key;
  turn(key_rows_.data() + at * 2 * rotation_->pairs(), row, direction);
}
void RegionTurns::turn_query(std::size_t region, std::int64_t query, std::vector<double>& row,
                             Direction direction) const {
  if (present()) turn((direction == Direction::forward ? 1 : -1) * query_change(region, query), row);
}
void RegionTurns::turn_key(std::size_t region, std::int64_t key, std::vector<double>& row, Direction direction) const {
  if (present()) turn((direction == Direction::forward ? 1 : -1) * key_change(region, key), row);
}

}  // namespace locus
