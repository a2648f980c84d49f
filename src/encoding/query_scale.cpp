// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "locus/site.h"

namespace locus {

Position QueryScale::first_scaled() const { return kind == Kind::steps ? length - shift : length - shift + 1; }

double QueryScale::at(Position position) const {
  if (position < first_scaled()) return 1;
  const auto n = static_cast<double>(position + shift);
  const auto trained = static_cast<double>(length);
  return kind == Kind::steps ? 1 + beta * std::log(1 + std::floor(n / trained)) : std::log(n) / std::log(trained);
}

}  // namespace locus
