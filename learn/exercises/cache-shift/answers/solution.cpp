#include "locus_exercise.h"

#include <cmath>

Array shift_keys(const Array& keys, const Ids& from, const Ids& to) {
  const std::int64_t dim = keys.shape[2];
  Array result = keys;
  for (std::int64_t t = 0; t < keys.shape[0]; ++t) {
    const std::int64_t amount = to[t] - from[t];
    for (std::int64_t h = 0; h < keys.shape[1]; ++h) {
      for (std::int64_t i = 0; i < dim / 2; ++i) {
        const double angle = amount * std::pow(10000.0, -2.0 * i / dim);
        const std::int64_t a = i, b = i + dim / 2;
        const double c = std::cos(angle), s = std::sin(angle);
        result(t, h, a) = keys(t, h, a) * c - keys(t, h, b) * s;
        result(t, h, b) = keys(t, h, b) * c + keys(t, h, a) * s;
      }
    }
  }
  return result;
}

int main() { return learn::serve({{"shift_keys", learn::function(shift_keys)}}); }
