#include "locus_exercise.h"

#include <cmath>

Array shift_matrix(std::int64_t k, std::int64_t dim) {
  Array matrix({dim, dim});
  for (std::int64_t i = 0; i < dim / 2; ++i) {
    const double angle = k * std::pow(10000.0, -2.0 * i / dim);
    const std::int64_t a = 2 * i, b = 2 * i + 1;
    matrix(a, a) = matrix(b, b) = std::cos(angle);
    matrix(a, b) = std::sin(angle);
    matrix(b, a) = -std::sin(angle);
  }
  return matrix;
}

int main() { return learn::serve({{"shift_matrix", learn::function(shift_matrix)}}); }
