#include "locus_exercise.h"

#include <cmath>

double series(std::int64_t h, std::int64_t count) { return std::exp2(-8.0 * (h + 1) / count); }

Array slopes(std::int64_t heads) {
  std::int64_t power = 1;
  while (2 * power <= heads) power *= 2;
  Array result({heads});
  for (std::int64_t h = 0; h < heads; ++h) {
    result(h) = h < power ? series(h, power) : series(2 * (h - power), 2 * power);
  }
  return result;
}

int main() { return learn::serve({{"slopes", learn::function(slopes)}}); }
