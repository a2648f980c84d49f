// SPDX-License-Identifier: Apache-2.0
// Resizes learned position tables to another length or grid, as the models' own code does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace locus {

/// `linear` is for one axis, the other two for grids. All use half-pixel centres (torch: align_corners=False).
enum class ResizeMethod : std::uint8_t { linear, bilinear, bicubic };

/// Height and width of a grid whose table rows are in row-major order.
struct Grid {
  std::int64_t height = 0;
  std::int64_t width = 0;
  friend bool operator==(const Grid&, const Grid&) = default;
};

struct ResizeOptions {
  ResizeMethod method = ResizeMethod::bicubic;
  /// Grids only. Widens the filter when shrinking, and drops taps beyond the edge instead of repeating the edge. The
  /// cubic then has a = -0.5 instead of -0.75, so enlarging differs too.
  bool antialias = false;
  /// In [0, 1). The step in the source is from / (to + scale_offset); older transformers and DINOv2 use 0.1.
  double scale_offset = 0;
  /// Leading rows, such as a class token's, that are copied unchanged.
  std::int64_t prefix_rows = 0;
};

/// Resizes a table [prefix_rows + from, dim] to [prefix_rows + to, dim]. Computes in double and rounds once. from ==
/// to copies the table for any scale_offset, as the models do.
/// Error: sizes or options that do not fit, a result that does not fit in memory.
/// Cost: O(rows x dim) of the larger table.
std::vector<float> resize_1d(std::span<const float> table, std::int64_t dim, std::int64_t from, std::int64_t to,
                             const ResizeOptions& options = {.method = ResizeMethod::linear});
std::vector<double> resize_1d(std::span<const double> table, std::int64_t dim, std::int64_t from, std::int64_t to,
                              const ResizeOptions& options = {.method = ResizeMethod::linear});

/// Resizes a table [prefix_rows + from.height * from.width, dim]. Error and cost as resize_1d().
std::vector<float> resize_2d(std::span<const float> table, std::int64_t dim, Grid from, Grid to,
                             const ResizeOptions& options = {});
std::vector<double> resize_2d(std::span<const double> table, std::int64_t dim, Grid from, Grid to,
                              const ResizeOptions& options = {});

}  // namespace locus
