// SPDX-License-Identifier: Apache-2.0
// Mean attention by distance, per layer and head, for queries within and beyond the trained length.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "figures/figure.h"
#include "probe/model.h"
#include "probe/run_control.h"

namespace locus::probe {

/// Distances [begin, end) from query to key: 0, 1, [2, 4), [4, 8) and so on.
struct DistanceBin {
  std::int64_t begin = 0, end = 0;
};
std::vector<DistanceBin> distance_bins(std::int64_t length);

struct AttentionRange {
  std::string name;                 ///< "in range", "beyond"
  std::int64_t begin = 0, end = 0;  ///< positions of the queries, [begin, end)
  std::int64_t queries = 0;         ///< measured queries, evenly spaced
  std::vector<std::int64_t> pairs;  ///< per bin: queries times keys at these distances
  std::vector<double> mass;         ///< [layers, heads, bins]: attention summed over them
  /// Returns the mean attention of one key at this distance; 0 if there was none.
  double mean(std::int64_t row, std::size_t bin) const;
};

struct AttentionMap {
  std::int64_t layers = 0, heads = 0;
  std::vector<DistanceBin> bins;
  std::vector<AttentionRange> ranges;  ///< the second is absent if the text does not exceed the trained length
  bool complete = true;                ///< false: interrupted
};

/// Reads `tokens` from position 0 with `encoding`, and measures about `queries` of them in each range.
AttentionMap measure_attention(const Model& model, const Encoding& encoding, std::span<const Token> tokens,
                               std::int64_t queries, const RunControl& control = {});

/// Rows are heads, columns are distances, colour is the mean attention of one key on a logarithmic scale; one panel
/// per range.
figures::Figure attention_figure(const std::string& model, const AttentionMap& map);

}  // namespace locus::probe
