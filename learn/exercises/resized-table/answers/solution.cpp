#include "locus_exercise.h"

#include <algorithm>
#include <cmath>

Array resized(const Array& table, std::int64_t length) {
  const std::int64_t n = table.shape[0], dim = table.shape[1];
  Array result({length, dim});
  for (std::int64_t i = 0; i < length; ++i) {
    double place = (i + 0.5) * n / length - 0.5;
    place = std::clamp(place, 0.0, n - 1.0);
    const std::int64_t low = static_cast<std::int64_t>(place);
    const std::int64_t high = std::min(low + 1, n - 1);
    const double part = place - low;
    for (std::int64_t c = 0; c < dim; ++c) result(i, c) = (1 - part) * table(low, c) + part * table(high, c);
  }
  return result;
}

int main() { return learn::serve({{"resized", learn::function(resized)}}); }
