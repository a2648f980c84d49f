// SPDX-License-Identifier: Apache-2.0
// Searches for the slice: a rotation keeps the length of its pairs and does not change other coordinates.
#include <algorithm>
#include <cmath>
#include <limits>

#include "doctor/diagnose/turning.h"

namespace locus::doctor {
namespace {

// Evenly spaced rows, enough to find the structure.
struct Thinned {
  RotationDump dump;
  Cells cells;
  std::vector<double> scale;
};

Thinned thinned(const RotationDump& dump, const Cells& cells, const std::vector<double>& scale) {
  constexpr std::int64_t most = 48;
  const std::int64_t rows = dump.batch * dump.tokens;
  if (rows <= most) return {dump, cells, scale};
  Thinned few;
  few.dump = {.batch = 1, .tokens = most, .heads = dump.heads, .head_dim = dump.head_dim};
  few.cells = {.rows = most, .heads = dump.heads};
  const std::int64_t size = dump.heads * dump.head_dim;
  const std::int64_t pairs = static_cast<std::int64_t>(scale.size()) / rows;
  for (std::int64_t n = 0; n < most; ++n) {
    const std::int64_t row = n * rows / most;
    for (std::int64_t h = 0; h < dump.heads; ++h) {
      const auto from = index_of(row * dump.heads + h);
      const auto vector = dump.before.begin() + cells.source[from] * dump.head_dim;
      few.dump.before.insert(few.dump.before.end(), vector, vector + dump.head_dim);
      few.cells.state.push_back(cells.state[from]);
      few.cells.source.push_back(n * dump.heads + h);
      few.cells.excluded.push_back(cells.excluded[from]);
    }
    few.dump.after.insert(few.dump.after.end(), dump.after.begin() + row * size, dump.after.begin() + (row + 1) * size);
    few.scale.insert(few.scale.end(), scale.begin() + row * pairs, scale.begin() + (row + 1) * pairs);
  }
  return few;
}

struct Hull {
  std::int64_t first = 0;
  std::int64_t last = -1;  // -1: none changed
};

// Returns how much each coordinate changes in all but a share of the vectors, relative to its size.
std::vector<double> changes(const RotationDump& dump, const Cells& cells, double share) {
  std::vector<double> result;
  for (std::int64_t j = 0; j < dump.head_dim; ++j) {
    std::vector<double> offs, sizes;
    for (std::size_t cell = 0; cell < cells.state.size(); ++cell) {
      if (cells.state[cell] != CellState::usable || cells.excluded[cell] != 0) continue;
      const std::size_t n = cell * index_of(dump.head_dim) + index_of(j);
      offs.push_back(std::abs(dump.after[n] - dump.before[n]));
      sizes.push_back(std::abs(dump.before[n]));
    }
    const double size = median(std::move(sizes));
    result.push_back(size > 0 ? quantile(std::move(offs), 1 - share) / size : 0);
  }
  return result;
}

Hull hull_above(const std::vector<double>& changed, double level) {
  Hull hull;
  for (std::int64_t j = 0; j < static_cast<std::int64_t>(changed.size()); ++j) {
    if (changed[index_of(j)] <= level) continue;
    if (hull.last < 0) hull.first = j;
    hull.last = j;
  }
  return hull;
}

void add(std::vector<TurnedSlice>& all, const TurnedSlice& slice, std::int64_t head_dim) {
  if (slice.rotary_offset < 0 || slice.rotary_dim < 2 || slice.rotary_offset + slice.rotary_dim > head_dim) return;
  if (std::none_of(all.begin(), all.end(), [&](const TurnedSlice& other) { return same_slice(other, slice); })) {
    all.push_back(slice);
  }
}

void add_all(std::vector<TurnedSlice>& all, std::int64_t offset, std::int64_t width, std::int64_t head_dim) {
  add(all, {Pairing::half, false, offset, width}, head_dim);
  add(all, {Pairing::interleaved, false, offset, width}, head_dim);
  add(all, {Pairing::interleaved, true, offset, width}, head_dim);
}

// Wide slices come first: a narrower one that explains as much omits slow pairs.
std::vector<TurnedSlice> candidates(const RotationDump& dump, const std::vector<Hull>& hulls,
                                    const std::optional<TurnedSlice>& preferred) {
  std::vector<TurnedSlice> all;
  const std::int64_t d = dump.head_dim;
  for (const Hull& hull : hulls) {
    if (hull.last < 0) continue;
    for (const std::int64_t offset : {hull.first, hull.first - 1}) {
      const std::int64_t least = std::max<std::int64_t>(hull.last - offset + 1, 2);
      for (std::int64_t width = (d - offset) / 2 * 2; width >= least; width -= 2) {
        if (offset == hull.first) {
          add_all(all, offset, width, d);
        } else {
          add(all, {Pairing::interleaved, true, offset, width}, d);
        }
      }
    }
  }
  for (const std::int64_t quarters : {4, 2, 1, 3}) {
    const std::int64_t width = quarters * d / 8 * 2;
    add_all(all, 0, width, d);
    add_all(all, d - width, width, d);
  }
  if (preferred) {
    add(all, *preferred, d);
    if (preferred->rotary_dim % 4 == 0) add_all(all, preferred->rotary_offset, preferred->rotary_dim / 2, d);
  }
  return all;
}

}  // namespace

std::vector<Turning> fitting_slices(const RotationDump& dump, const Cells& cells, double floor,
                                    const std::optional<TurnedSlice>& preferred, const std::vector<double>& scale) {
  const Thinned few = thinned(dump, cells, scale);
  std::vector<Hull> hulls;  // of most vectors, and of a tenth: many may be at position 0 or not rotated
  bool any = false;
  for (const double share : {0.5, 0.1}) {
    const std::vector<double> changed = changes(few.dump, few.cells, share);
    any = any || std::any_of(changed.begin(), changed.end(), [&](double one) { return one > floor; });
    hulls.push_back(hull_above(changed, floor));
    hulls.push_back(hull_above(changed, std::max(4 * quantile(changed, 0.06), floor)));
  }
  if (!any) return {};
  std::vector<Turning> tried;
  for (const TurnedSlice& slice : candidates(few.dump, hulls, preferred)) {
    const bool scaled = preferred && same_slice(slice, *preferred);
    tried.push_back(measure(few.dump, slice, few.cells, floor, scaled ? few.scale : std::vector<double>{}));
  }
  // The right slice has the smallest residual; its noise counts for all slices.
  const auto best = std::min_element(tried.begin(), tried.end(), [](const Turning& a, const Turning& b) {
    return a.relative_noise < b.relative_noise;
  });
  double most = 0;
  for (Turning& turning : tried) {
    turning.kept = share_kept(few.dump, turning, best->noise);
    most = std::max(most, turning.kept);
  }
  double least = std::numeric_limits<double>::infinity();  // xPos: |z| changes, and two heads must agree on it
  for (const Turning& turning : tried) least = std::min(least, turning.free_residual);
  const bool lengths = best->relative_noise < 0.05 && most > 0.3;
  std::vector<Turning> fitting;
  for (const Turning& turning : tried) {
    const bool keeps = lengths && turning.kept >= most - 0.02;
    const bool varies = !lengths && few.dump.heads > 1 && turning.free_residual <= 1.1 * least;
    if (!keeps && !varies) continue;
    const bool scaled = preferred && same_slice(turning.slice, *preferred);
    fitting.push_back(measure(dump, turning.slice, cells, floor, scaled ? scale : std::vector<double>{}));
    fitting.back().kept = lengths ? turning.kept : 0;
  }
  std::stable_sort(fitting.begin(), fitting.end(), [&](const Turning& a, const Turning& b) {
    const auto rank = [&](const Turning& turning) {
      return preferred && same_slice(turning.slice, *preferred) ? 0 : 1;
    };
    return rank(a) < rank(b);
  });
  return fitting;
}

}  // namespace locus::doctor
