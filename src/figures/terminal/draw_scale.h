// SPDX-License-Identifier: Apache-2.0
// Maps numbers or names to places on an axis of a drawing.
#pragma once

#include <string>
#include <vector>

#include "figures/terminal/draw_parts.h"

namespace locus::figures {

class DrawScale {
 public:
  /// Covers the channel's domain, or else the values of the rows; names are one step apart.
  DrawScale(const Channel& channel, const std::vector<const Json*>& rows);
  /// For numbers: also covers these rows, unless the domain is given.
  void include(const Channel& channel, const std::vector<const Json*>& rows);

  /// Returns the place of the row's value, from 0 to 1; absent if it has none or is outside the domain.
  std::optional<double> place(const Json& row, const std::string& field) const;
  std::optional<double> place(double value) const;

  /// Returns labels at round values, about `most` of them, on an axis of `cells` cells; `upwards` counts from the
  /// bottom.
  std::vector<Tick> ticks(std::size_t cells, std::size_t most, bool upwards) const;

 private:
  std::vector<double> round_values(std::size_t most) const;
  bool logarithmic_ = false;
  double log_base_ = 10;
  bool given_ = false;  ///< the spec gives the domain
  bool empty_ = true;   ///< no number so far
  double low_ = 0, high_ = 1;
  std::vector<std::string> names_;
};

/// Returns the cell of a place, the first at 0 and the last at 1.
std::size_t cell_at(double place, std::size_t cells);

}  // namespace locus::figures
