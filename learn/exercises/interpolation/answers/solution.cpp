#include "locus_exercise.h"

#include <algorithm>

Array interpolated(const Ids& positions, std::int64_t trained, std::int64_t served) {
  const double factor = std::max(1.0 * served / trained, 1.0);
  Array result({static_cast<std::int64_t>(positions.size())});
  for (std::int64_t i = 0; i < result.shape[0]; ++i) result(i) = positions[i] / factor;
  return result;
}

int main() { return learn::serve({{"interpolated", learn::function(interpolated)}}); }
