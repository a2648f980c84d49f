#include "locus_exercise.h"

#include <algorithm>
#include <cmath>

Ids buckets(const Ids& distances, std::int64_t count, std::int64_t max_distance) {
  const std::int64_t exact = count / 2;
  Ids result;
  for (const std::int64_t distance : distances) {
    const std::int64_t r = std::max<std::int64_t>(distance, 0);
    if (r < exact) {
      result.push_back(r);
      continue;
    }
    const double part = std::log(1.0 * r / exact) / std::log(1.0 * max_distance / exact);
    const std::int64_t far = exact + static_cast<std::int64_t>(std::floor(part * (count - exact)));
    result.push_back(std::min(far, count - 1));
  }
  return result;
}

int main() { return learn::serve({{"buckets", learn::function(buckets)}}); }
