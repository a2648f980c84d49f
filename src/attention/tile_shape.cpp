// SPDX-License-Identifier: Apache-2.0
#include "attention/tile_shape.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace locus {

TileShape::TileShape(const Problem& problem, const Document& document, std::int64_t first_query, std::int64_t rows)
    : problem_(problem),
      document_(document),
      first_query_(first_query),
      rows_(rows),
      begin_(static_cast<std::size_t>(rows)),
      end_(static_cast<std::size_t>(rows)) {
  for (std::int64_t i = 0; i < rows; ++i) {
    ranges_.push_back(document.places_rise ? problem.visible_range(document, first_query + i)
                                           : VisibleRange{0, document.keys, 0});
  }
}

bool TileShape::move_to(std::int64_t first_key, std::int64_t columns) {
  first_key_ = first_key;
  columns_ = columns;
  ragged_ = false;
  one_by_one_ = document_.patchy || !document_.places_rise;
  bool any = false;
  const auto inside = [&](std::int64_t key) { return std::clamp<std::int64_t>(key - first_key_, 0, columns_); };
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    std::int64_t begin = inside(ranges_[i].begin);
    std::int64_t end = inside(ranges_[i].end);
    const std::int64_t sinks = inside(ranges_[i].sinks_end);
    if (sinks > 0) {
      one_by_one_ |= begin < end;  // gap between the sinks and the window
      end = begin < end ? end : sinks;
      begin = 0;
    }
    begin_[i] = static_cast<std::int32_t>(begin);
    end_[i] = static_cast<std::int32_t>(end);
    any |= begin < end;
    ragged_ |= begin > 0 || end < columns_;
  }
  return any;
}

std::int64_t TileShape::blocks_seen(std::int64_t first, std::int64_t end, std::int64_t keys) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> seen;  // blocks [first, second) of each row
  const auto add = [&](std::int64_t begin_key, std::int64_t end_key) {
    if (begin_key < end_key) seen.emplace_back(begin_key / keys, (end_key - 1) / keys + 1);
  };
  for (const VisibleRange& range : ranges_) {
    add(range.begin, range.end);
    add(0, range.sinks_end);
  }
  std::sort(seen.begin(), seen.end());
  std::int64_t count = 0, counted = first;  // all blocks below `counted` are done
  for (const auto& [from, to] : seen) {
    const std::int64_t begin = std::max(from, counted), stop = std::min(to, end);
    if (begin >= stop) continue;
    count += stop - begin;
    counted = stop;
  }
  return count;
}

TileRows TileShape::rows() const {
  return {.rows = rows_,
          .columns = columns_,
          .begin = ragged_ ? begin_.data() : nullptr,
          .end = ragged_ ? end_.data() : nullptr};
}

void TileShape::hide_unseen(std::int64_t head, float* scores, std::int64_t stride) const {
  if (!one_by_one_) return;
  for (std::int64_t i = 0; i < rows_; ++i) {
    for (std::int64_t c = begin_[static_cast<std::size_t>(i)]; c < end_[static_cast<std::size_t>(i)]; ++c) {
      if (problem_.sees(document_, head, first_query_ + i, first_key_ + c)) continue;
      scores[i * stride + c] = -std::numeric_limits<float>::infinity();
    }
  }
}

}  // namespace locus
