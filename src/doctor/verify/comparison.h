// SPDX-License-Identifier: Apache-2.0
// Two results entry by entry, each held against a bound of its own: the worst entry, and the first that diverges.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "locus/position_ids.h"

namespace locus::doctor {

/// Which entry of a result [rows, heads, head_dim] is meant.
struct Entry {
  std::int64_t row = 0;
  std::int64_t head = 0;
  std::int64_t dim = 0;
};

struct Comparison {
  double value = 0;            ///< |got - want| where it is worst in proportion to its bound
  double bound = 0;            ///< the bound there
  std::optional<Entry> first;  ///< the first entry in order of rows that lies beyond its bound
  double got = 0, want = 0;    ///< there
};

/// `got` and `want` are [rows, heads, head_dim]. NaN is beyond every bound, unless NaN is what is wanted.
Comparison compare(std::span<const double> got, std::span<const double> want, std::int64_t heads, std::int64_t head_dim,
                   const std::function<double(const Entry&, double want)>& bound);

/// Whether a row is clearly nearer to a prediction than to what is right: a model whose bound is wider, but which
/// predicts what is right, explains nothing.
bool explains(std::span<const double> got, std::span<const double> predicted, std::span<const double> right);

/// "diverges first at token 17, head 2, position 1017: 0.25 instead of 0.5; likely cause: ..."; empty where all is
/// well.
std::string divergence(const Comparison& comparison, std::int64_t token, Position position, const std::string& cause);

}  // namespace locus::doctor
