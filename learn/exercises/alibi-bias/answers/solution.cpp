#include "locus_exercise.h"

#include <cmath>

Array bias(const Array& slopes, const Ids& query_ids, const Ids& key_ids) {
  const std::int64_t queries = query_ids.size(), keys = key_ids.size();
  Array result({slopes.shape[0], queries, keys});
  for (std::int64_t h = 0; h < slopes.shape[0]; ++h) {
    for (std::int64_t i = 0; i < queries; ++i) {
      for (std::int64_t j = 0; j < keys; ++j) {
        const double distance = query_ids[i] - key_ids[j];
        result(h, i, j) = -slopes(h) * distance;
      }
    }
  }
  return result;
}

int main() { return learn::serve({{"bias", learn::function(bias)}}); }
