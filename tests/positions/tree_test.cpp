// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "locus/positions.h"

namespace locus::positions {
namespace {

using Ids = std::vector<Position>;
using Mask = std::vector<std::uint8_t>;
using Parents = std::vector<std::int64_t>;

TEST(Tree, SiblingsShareAPosition) {
  EXPECT_EQ(tree(Parents{-1, 0, 0, 1, 1, 2}).ids, (Ids{0, 1, 1, 2, 2, 2}));
  EXPECT_EQ(tree(Parents{-1, 0, 0, 1}, 10).ids, (Ids{10, 11, 11, 12}));
}

TEST(Tree, SeveralRoots) { EXPECT_EQ(tree(Parents{-1, -1, 0, 1}, 5).ids, (Ids{5, 5, 6, 6})); }

TEST(Tree, ChildrenBeforeParents) { EXPECT_EQ(tree(Parents{2, 0, -1, 1}).ids, (Ids{1, 2, 0, 3})); }

TEST(Tree, NoNodes) {
  EXPECT_TRUE(tree(Parents{}).ids.empty());
  EXPECT_TRUE(ancestor_mask(Parents{}).empty());
}

TEST(Tree, AncestorMask) {
  EXPECT_EQ(ancestor_mask(Parents{-1, 0, 0, 1}), (Mask{1, 0, 0, 0,  //
                                                       1, 1, 0, 0,  //
                                                       1, 0, 1, 0,  //
                                                       1, 1, 0, 1}));
}

TEST(Tree, AChainIsASequence) {
  Parents parents(1000);
  std::iota(parents.begin(), parents.end(), -1);
  EXPECT_EQ(tree(parents, 7).ids, decode(7, 1000).ids);
}

/// A random forest whose nodes are listed in a random order.
Parents random_forest() {
  const auto nodes = *rc::gen::inRange<std::int64_t>(1, 20);
  Parents label(static_cast<std::size_t>(nodes));
  std::iota(label.begin(), label.end(), 0);
  for (std::size_t left = label.size(); left > 1; --left) {
    std::swap(label[left - 1], label[*rc::gen::inRange<std::size_t>(0, left)]);
  }
  Parents parents(label.size(), -1);
  for (std::size_t node = 0; node < label.size(); ++node) {
    const auto parent = *rc::gen::inRange<std::int64_t>(-1, static_cast<std::int64_t>(node));
    if (parent >= 0) parents[static_cast<std::size_t>(label[node])] = label[static_cast<std::size_t>(parent)];
  }
  return parents;
}

RC_GTEST_PROP(Tree, AChildFollowsItsParent, ()) {
  const Parents parents = random_forest();
  const Ids ids = tree(parents, 3).ids;
  for (std::size_t node = 0; node < parents.size(); ++node) {
    const Position expected = parents[node] < 0 ? 3 : ids[static_cast<std::size_t>(parents[node])] + 1;
    RC_ASSERT(ids[node] == expected);
  }
}

// Transitive closure by Warshall's algorithm, which walks no parent links.
RC_GTEST_PROP(Tree, AncestorMaskIsTheTransitiveClosure, ()) {
  const Parents parents = random_forest();
  const std::size_t nodes = parents.size();
  Mask reach(nodes * nodes, 0);
  for (std::size_t node = 0; node < nodes; ++node) {
    reach[node * nodes + node] = 1;
    if (parents[node] >= 0) reach[node * nodes + static_cast<std::size_t>(parents[node])] = 1;
  }
  for (std::size_t via = 0; via < nodes; ++via) {
    for (std::size_t from = 0; from < nodes; ++from) {
      for (std::size_t to = 0; to < nodes; ++to) {
        if (reach[from * nodes + via] != 0 && reach[via * nodes + to] != 0) reach[from * nodes + to] = 1;
      }
    }
  }
  RC_ASSERT(ancestor_mask(parents) == reach);
}

}  // namespace
}  // namespace locus::positions
