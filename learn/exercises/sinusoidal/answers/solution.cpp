#include "locus_exercise.h"

#include <cmath>

Array rows(const Ids& positions, std::int64_t dim) {
  Array result({static_cast<std::int64_t>(positions.size()), dim});
  for (std::int64_t t = 0; t < result.shape[0]; ++t) {
    for (std::int64_t i = 0; i < dim / 2; ++i) {
      const double frequency = std::pow(10000.0, -2.0 * i / dim);
      const double angle = positions[t] * frequency;
      result(t, 2 * i) = std::sin(angle);
      result(t, 2 * i + 1) = std::cos(angle);
    }
  }
  return result;
}

int main() { return learn::serve({{"rows", learn::function(rows)}}); }
