// SPDX-License-Identifier: Apache-2.0
// A figure in a terminal, made from its own spec: what the page draws in colours is drawn in characters.
#pragma once

#include <cstddef>
#include <string>

#include "figures/figure.h"

namespace locus::figures {

struct DrawingOptions {
  std::size_t width = 80;  ///< columns, at least 40
  bool colour = false;     ///< ANSI colours beside the shapes, which say the same without them
};

/// Title, panels, legend and caption, UTF-8, lines ended by a newline. Rects become shades, lines and points dots or
/// letters, bars blocks; panels of a facet stand one below the other. Marks that it cannot draw are named in a line.
std::string draw(const Figure& figure, const DrawingOptions& options = {});

}  // namespace locus::figures
