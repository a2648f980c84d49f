// SPDX-License-Identifier: Apache-2.0
#include "attention/region_turns.h"

#include <algorithm>
#include <cmath>

#include "kernels/exact_rows.h"
#include "kernels/rotate_simd.h"
#include "locus/turns.h"

namespace locus {

RegionTurns::RegionTurns(const Problem& problem, const Document& document, bool with_tables)
    : document_(document), rotation_(problem.remapped()) {
  if (rotation_ == nullptr) return;
  map_ = &*rotation_->offsets;
  for (std::size_t r = 0; r + 1 < map_->regions.size(); ++r) {
    std::vector<Position>& first = first_key_.emplace_back();
    for (const Position query : document.query_ids) first.push_back(map_->regions[r].first_key(query));
  }
  for (const OffsetRegion& region : map_->regions) {
    std::vector<Position>&queries = query_turns_.emplace_back().moved, &keys = key_turns_.emplace_back().moved;
    for (const Position id : document.query_ids) queries.push_back(region.query_at(id) - id * map_->denominator);
    for (const Position id : document.key_ids) keys.push_back(region.key_at(id) - id * map_->denominator);
  }
  if (document.ids_advance && document.keys > 0 && problem.future_unseen()) leave_near_pairs();
  for (std::vector<TokenTurns>* turns : {&query_turns_, &key_turns_}) {
    for (std::size_t region = 0; region < turns->size(); ++region) {
      const auto alike = [&](const TokenTurns& one) { return one.moved == (*turns)[region].moved; };
      (*turns)[region].like =
          static_cast<std::size_t>(std::find_if(turns->begin(), turns->end(), alike) - turns->begin());
    }
  }
  if (!with_tables) return;
  make_tables(query_turns_);
  make_tables(key_turns_);
}

// The nearest region of dual chunks moves the tokens of a chunk alike: offsets stay, so nothing need turn.
void RegionTurns::leave_near_pairs() {
  std::vector<Position>&queries = query_turns_[0].moved, &keys = key_turns_[0].moved;
  std::vector<std::int64_t> alike;  // per key: the first of the keys up to it that move as it does
  for (std::size_t key = 0; key < keys.size(); ++key) {
    const bool like_last = key > 0 && keys[key] == keys[key - 1];
    alike.push_back(like_last ? alike.back() : static_cast<std::int64_t>(key));
  }
  for (std::int64_t i = 0; i < document_.queries; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t first = std::max<std::int64_t>(keys_of(0, i).begin, 0);
    const std::int64_t last = std::min(document_.query_ids[at] - document_.key_ids[0], document_.keys - 1);
    if (last < first) continue;
    const auto nearest = static_cast<std::size_t>(last);
    if (keys[nearest] != queries[at] || alike[nearest] > first) return;
  }
  std::fill(queries.begin(), queries.end(), Position{0});
  std::fill(keys.begin(), keys.end(), Position{0});
}

std::size_t RegionTurns::region_of(std::int64_t query, std::int64_t key) const {
  const Position id = document_.key_ids[static_cast<std::size_t>(key)];
  std::size_t region = 0;
  while (region < first_key_.size() && id < first_key_[region][static_cast<std::size_t>(query)]) ++region;
  return region;
}

std::uint32_t RegionTurns::regions_of(const TilePlace& tile, std::vector<std::uint8_t>& regions) const {
  std::uint32_t found = 0;
  const auto add = [&](std::size_t region) {
    found |= std::uint32_t{1} << region;
    return region;
  };
  if (document_.ids_advance) {  // the farthest pair and the nearest tell whether a tile is in one region
    const std::int64_t last = tile.first_key + tile.columns - 1;
    const std::size_t farthest = add(region_of(tile.first_query + tile.rows - 1, tile.first_key));
    if (farthest == region_of(tile.first_query, last)) return found;
  }
  if (document_.ids_advance) {  // the pairs of a row go through the regions in order
    const std::int64_t last = tile.first_key + tile.columns - 1;
    for (std::int64_t i = tile.first_query; i < tile.first_query + tile.rows; ++i) {
      const std::size_t farthest = add(region_of(i, tile.first_key));
      for (std::size_t region = region_of(i, last); region < farthest; ++region) add(region);
    }
    return found;
  }
  regions.clear();
  for (std::int64_t i = tile.first_query; i < tile.first_query + tile.rows; ++i) {
    for (std::int64_t c = tile.first_key; c < tile.first_key + tile.columns; ++c) {
      regions.push_back(static_cast<std::uint8_t>(add(region_of(i, c))));
    }
  }
  return found;
}

RegionTurns::Keys RegionTurns::keys_of(std::size_t region, std::int64_t query) const {
  const auto index = [&](std::size_t r) {
    return r == first_key_.size() ? 0 : first_key_[r][static_cast<std::size_t>(query)] - document_.key_ids[0];
  };
  Keys keys{.begin = index(region), .end = document_.keys};
  for (std::size_t r = 0; r < region; ++r) keys.end = std::min(keys.end, index(r));
  return keys;
}

RegionTurns::Keys RegionTurns::keys_met(std::size_t region) const {
  if (!document_.ids_advance) return {0, document_.keys};
  Keys all{document_.keys, 0};
  for (std::int64_t i = 0; i < document_.queries; ++i) {
    const Keys keys = keys_of(region, i);
    if (keys.begin >= keys.end) continue;
    all = {std::min(all.begin, keys.begin), std::max(all.end, keys.end)};
  }
  return all;
}

// Rotated vectors have the pairs (i, i + pairs), or (2i, 2i + 1) if the output is interleaved.
bool RegionTurns::neighbours() const {
  return rotation_->pairing == Pairing::interleaved && !rotation_->deinterleaved_output;
}

void RegionTurns::turn(Position moved, std::vector<double>& row) const {
  if (moved == 0) return;
  const double change = static_cast<double>(moved) / static_cast<double>(map_->denominator);
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

// Tables of the regions that move tokens, each computed once.
void RegionTurns::make_tables(std::vector<TokenTurns>& turns) const {
  const auto pairs = static_cast<std::size_t>(rotation_->pairs());
  std::vector<Turns> frequencies;  // per position, divided by the denominator
  for (std::size_t i = 0; i < pairs; ++i) {
    const DoubleDouble frequency{rotation_->inv_freq[i], rotation_->inv_freq_low[i]};
    frequencies.push_back(to_turns(frequency / DoubleDouble{static_cast<double>(map_->denominator), 0}));
  }
  const StepRows steps(std::move(frequencies));
  for (std::size_t region = 0; region < turns.size(); ++region) {
    TokenTurns& own = turns[region];
    if (std::all_of(own.moved.begin(), own.moved.end(), [](Position moved) { return moved == 0; })) continue;
    TokenTurns& like = turns[own.like];
    if (like.table.empty()) {
      ExactRows rows(steps, 1.0);
      like.table.resize(own.moved.size() * 2 * pairs);
      float* to = like.table.data();
      for (const Position moved : own.moved) {
        rows.row(moved, to, to + pairs);
        to += 2 * pairs;
      }
    }
    for (std::size_t t = 0; t < own.moved.size(); ++t) own.rows.push_back(like.table.data() + t * 2 * pairs);
  }
}

void RegionTurns::turn(const TokenTurns& turns, const Rows& rows, Direction direction) const {
  if (turns.rows.empty()) return;
  const auto pairs = static_cast<std::size_t>(rotation_->pairs());
  const bool whole = rotation_->rotary_dim == rotation_->head_dim;
  const bool copied = rows.from != nullptr && !whole;
  for (std::int64_t t = 0; copied && t < rows.count; ++t) {
    std::copy_n(rows.from + t * rows.from_stride, rotation_->head_dim, rows.data + t * rows.stride);
  }
  const bool apart = rows.from != nullptr && whole;
  std::vector<float> scratch(rotate_scratch(pairs));
  rotate_tokens_function({ElementType::float32, neighbours(), neighbours()})(
      {.in = (apart ? rows.from : rows.data) + rotation_->rotary_offset,
       .out = rows.data + rotation_->rotary_offset,
       .in_token_stride = apart ? rows.from_stride : rows.stride,
       .out_token_stride = rows.stride,
       .tokens = static_cast<std::size_t>(rows.count),
       .heads = 1,
       .pairs = pairs,
       .rows = turns.rows.data() + rows.first,
       .inverse = direction == Direction::inverse,
       .scratch = scratch.data()});
}

void RegionTurns::turn_queries(std::size_t region, const Rows& rows, Direction direction) const {
  if (present()) turn(query_turns_[region], rows, direction);
}
void RegionTurns::turn_keys(std::size_t region, const Rows& rows, Direction direction) const {
  if (present()) turn(key_turns_[region], rows, direction);
}
void RegionTurns::turn_query(std::size_t region, std::int64_t query, std::vector<double>& row,
                             Direction direction) const {
  if (!present()) return;
  const Position moved = query_turns_[region].moved[static_cast<std::size_t>(query)];
  turn(direction == Direction::forward ? moved : -moved, row);
}
void RegionTurns::turn_key(std::size_t region, std::int64_t key, std::vector<double>& row, Direction direction) const {
  if (!present()) return;
  const Position moved = key_turns_[region].moved[static_cast<std::size_t>(key)];
  turn(direction == Direction::forward ? moved : -moved, row);
}

}  // namespace locus
