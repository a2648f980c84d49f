// SPDX-License-Identifier: Apache-2.0
// Draws a figure in a terminal, from the same spec as a page.
#pragma once

#include <cstddef>
#include <string>

#include "figures/figure.h"

namespace locus::figures {

struct DrawingOptions {
  std::size_t width = 80;  ///< columns, at least 40
  bool colour = false;     ///< ANSI colours; the drawing is readable without them
};

/// Returns title, panels, legend and caption as UTF-8, with a newline after each line. Rects become shades, lines and
/// points become dots or letters, bars become blocks. Panels of a facet are stacked. A line names the marks that cannot
/// be drawn.
std::string draw(const Figure& figure, const DrawingOptions& options = {});

}  // namespace locus::figures
