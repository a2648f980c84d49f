#include "locus_exercise.h"

#include <cmath>

Array rotate(const Array& x, const Ids& positions, std::int64_t rotary_dim) {
  Array result = x;
  for (std::int64_t t = 0; t < x.shape[0]; ++t) {
    for (std::int64_t h = 0; h < x.shape[1]; ++h) {
      for (std::int64_t i = 0; i < rotary_dim / 2; ++i) {
        const double angle = positions[t] * std::pow(10000.0, -2.0 * i / rotary_dim);
        const std::int64_t a = i, b = i + rotary_dim / 2;
        const double c = std::cos(angle), s = std::sin(angle);
        result(t, h, a) = x(t, h, a) * c - x(t, h, b) * s;
        result(t, h, b) = x(t, h, b) * c + x(t, h, a) * s;
      }
    }
  }
  return result;
}

int main() { return learn::serve({{"rotate", learn::function(rotate)}}); }
