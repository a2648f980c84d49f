// SPDX-License-Identifier: Apache-2.0
// Compares two results entry by entry, each with its own bound. Reports the worst entry and the first beyond its bound.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>

#include "locus/position_ids.h"

namespace locus::doctor {

/// An entry of a result [rows, heads, head_dim].
struct Entry {
  std::int64_t row = 0;
  std::int64_t head = 0;
  std::int64_t dim = 0;
};

struct Comparison {
  double value = 0;            ///< |got - want| at the entry that is worst relative to its bound
  double bound = 0;            ///< the bound there
  std::optional<Entry> first;  ///< the first entry, in row order, beyond its bound
  double got = 0, want = 0;    ///< at that entry
};

/// `got` and `want` are [rows, heads, head_dim]. NaN is beyond every bound unless `want` is NaN too.
Comparison compare(std::span<const double> got, std::span<const double> want, std::int64_t heads, std::int64_t head_dim,
                   const std::function<double(const Entry&, double want)>& bound);

/// True if a row is clearly nearer to a prediction than to the right result. Without this test, a model with a wider
/// bound that predicts the right result would seem to explain an error.
bool explains(std::span<const double> got, std::span<const double> predicted, std::span<const double> right);

/// Formats "diverges first at token 17, head 2, position 1017: 0.25 instead of 0.5; likely cause: ...". Empty if every
/// entry is within its bound.
std::string divergence(const Comparison& comparison, std::int64_t token, Position position, const std::string& cause);

}  // namespace locus::doctor
