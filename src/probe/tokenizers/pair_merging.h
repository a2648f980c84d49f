// SPDX-License-Identifier: Apache-2.0
// The loop of byte-pair encoding: merges the best pair of neighbours until no pair can be merged.
#pragma once

#include <cstddef>
#include <optional>
#include <queue>
#include <vector>

namespace locus::probe {

template <class Symbol>
struct MergedPair {
  double rank = 0;  ///< the lowest is merged first; the leftmost of equals
  Symbol symbol = {};
};

/// `join(left, right)` returns the MergedPair or nothing.
/// Cost: O(n log n) for n symbols, with a linked list of neighbours and a heap of pairs.
template <class Symbol, class Join>
std::vector<Symbol> merge_pairs(std::vector<Symbol> symbols, const Join& join) {
  constexpr std::size_t none = static_cast<std::size_t>(-1);
  struct Place {
    std::size_t before, after;
    std::size_t version = 0;  // counts the changes of this symbol: an older pair in the heap is stale
    bool alive = true;
  };
  struct Pair {
    double rank;
    std::size_t left, right, left_version, right_version;
    Symbol symbol;
  };
  const auto later = [](const Pair& a, const Pair& b) { return a.rank != b.rank ? a.rank > b.rank : a.left > b.left; };
  std::vector<Place> places(symbols.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i] = {i == 0 ? none : i - 1, i + 1 == places.size() ? none : i + 1};
  }
  std::priority_queue<Pair, std::vector<Pair>, decltype(later)> pairs(later);
  const auto offer = [&](std::size_t left, std::size_t right) {
    if (left == none || right == none) return;
    const std::optional<MergedPair<Symbol>> merged = join(symbols[left], symbols[right]);
    if (merged) pairs.push({merged->rank, left, right, places[left].version, places[right].version, merged->symbol});
  };
  for (std::size_t i = 0; i + 1 < places.size(); ++i) offer(i, i + 1);
  while (!pairs.empty()) {
    const Pair best = pairs.top();
    pairs.pop();
    Place& left = places[best.left];
    Place& right = places[best.right];
    if (!left.alive || !right.alive || left.version != best.left_version || right.version != best.right_version) {
      continue;
    }
    symbols[best.left] = best.symbol;
    ++left.version;
    right.alive = false;
    left.after = right.after;
    if (right.after != none) places[right.after].before = best.left;
    offer(left.before, best.left);
    offer(best.left, left.after);
  }
  std::vector<Symbol> merged;
  for (std::size_t i = 0; i < places.size(); i = places[i].after) {
    merged.push_back(symbols[i]);
    if (places[i].after == none) break;
  }
  return merged;
}

}  // namespace locus::probe
