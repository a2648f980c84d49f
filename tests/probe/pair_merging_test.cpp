// SPDX-License-Identifier: Apache-2.0
#include "probe/tokenizers/pair_merging.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace locus::probe {
namespace {

using Merges = std::map<std::pair<int, int>, MergedPair<int>>;

/// The definition: examine every pair, merge the best and leftmost, repeat.
std::vector<int> by_definition(std::vector<int> symbols, const Merges& merges) {
  while (true) {
    const MergedPair<int>* best = nullptr;
    std::size_t where = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = merges.find({symbols[i], symbols[i + 1]});
      if (found != merges.end() && (best == nullptr || found->second.rank < best->rank)) {
        best = &found->second;
        where = i;
      }
    }
    if (best == nullptr) return symbols;
    symbols[where] = best->symbol;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

TEST(PairMerging, IsTheDefinition) {
  std::mt19937 random(3);
  std::size_t merged = 0;
  for (int round = 0; round < 2000; ++round) {
    const auto draw = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
    Merges merges;
    for (int i = 0; i < 12; ++i) {
      // Few ranks, for ties; results among the small symbols, so that merging continues.
      merges[{draw(6), draw(6)}] = {static_cast<double>(draw(5)), draw(6)};
    }
    std::vector<int> symbols(static_cast<std::size_t>(draw(30)));
    for (int& symbol : symbols) symbol = draw(6);
    const auto join = [&](int left, int right) {
      const auto found = merges.find({left, right});
      return found == merges.end() ? std::nullopt : std::optional(found->second);
    };
    const auto expected = by_definition(symbols, merges);
    ASSERT_EQ(merge_pairs(symbols, join), expected);
    merged += symbols.size() - expected.size();
  }
  EXPECT_GT(merged, 10000u);
}

}  // namespace
}  // namespace locus::probe
