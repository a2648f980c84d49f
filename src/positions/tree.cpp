// SPDX-License-Identifier: Apache-2.0
// Trees of drafted tokens: the position of a token is its depth, not its index in the batch.
#include <algorithm>

#include "positions/checks.h"

namespace locus::positions {

namespace {

constexpr std::int64_t no_parent = -1;

/// Returns the number of edges from each node to its root. Visits every node once: a walk ends at a node of known
/// depth.
std::vector<std::int64_t> depths(std::span<const std::int64_t> parents) {
  constexpr std::int64_t unknown = -1;
  constexpr std::int64_t on_this_walk = -2;
  const auto nodes = static_cast<std::int64_t>(parents.size());
  for (std::size_t node = 0; node < parents.size(); ++node) {
    require(parents[node] >= no_parent && parents[node] < nodes, "tree.parents[", node,
            "] must be -1 (root) or a node below ", nodes, ", got ", parents[node]);
  }

  std::vector<std::int64_t> depth(parents.size(), unknown);
  std::vector<std::size_t> walk;
  for (std::size_t start = 0; start < parents.size(); ++start) {
    std::int64_t node = static_cast<std::int64_t>(start);
    while (node != no_parent && depth[static_cast<std::size_t>(node)] == unknown) {
      depth[static_cast<std::size_t>(node)] = on_this_walk;
      walk.push_back(static_cast<std::size_t>(node));
      node = parents[static_cast<std::size_t>(node)];
    }
    std::int64_t above = node == no_parent ? -1 : depth[static_cast<std::size_t>(node)];
    require(above != on_this_walk, "tree.parents must not have a cycle, got one through node ", node);
    for (; !walk.empty(); walk.pop_back()) depth[walk.back()] = ++above;
  }
  return depth;
}

}  // namespace

PositionIds tree(std::span<const std::int64_t> parents, std::int64_t prefix) {
  require_at_least("tree.prefix", prefix, 0);
  PositionIds result = make_ids("tree", 1, 1, static_cast<std::int64_t>(parents.size()));
  const std::vector<std::int64_t> depth = depths(parents);
  std::transform(depth.begin(), depth.end(), result.ids.begin(),
                 [prefix](std::int64_t below_root) { return checked_sum("tree ids", prefix, below_root); });
  return result;
}

std::vector<std::uint8_t> ancestor_mask(std::span<const std::int64_t> parents) {
  depths(parents);  // checks the tree, so that the walks below end
  const auto nodes = static_cast<std::int64_t>(parents.size());
  auto mask = checked_vector<std::uint8_t>("tree.mask", checked_count("tree.mask", nodes, nodes));
  for (std::int64_t row = 0; row < nodes; ++row) {
    for (std::int64_t node = row; node != no_parent; node = parents[static_cast<std::size_t>(node)]) {
      mask[static_cast<std::size_t>(row * nodes + node)] = 1;
    }
  }
  return mask;
}

std::vector<std::int64_t> accepted_path(std::span<const std::int64_t> parents, std::int64_t last) {
  depths(parents);  // checks the tree, so that the walk below ends
  const auto nodes = static_cast<std::int64_t>(parents.size());
  require(last >= 0 && last < nodes, "accepted_path.last must be a node below ", nodes, ", got ", last);
  std::vector<std::int64_t> path;
  for (std::int64_t node = last; node != no_parent; node = parents[static_cast<std::size_t>(node)]) {
    path.push_back(node);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace locus::positions
