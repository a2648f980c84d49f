#include "locus_exercise.h"

#include <algorithm>
#include <cmath>

Array attention(const Array& q, const Array& k, const Array& v) {
  const std::int64_t queries = q.shape[0], keys = k.shape[0], dim = q.shape[1], width = v.shape[1];
  Array weights({queries, keys});
  for (std::int64_t i = 0; i < queries; ++i) {
    double largest = -INFINITY, sum = 0;
    for (std::int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (std::int64_t c = 0; c < dim; ++c) score += q(i, c) * k(j, c);
      weights(i, j) = score;
      largest = std::max(largest, score);
    }
    for (std::int64_t j = 0; j < keys; ++j) {
      weights(i, j) = std::exp(weights(i, j) - largest);
      sum += weights(i, j);
    }
    for (std::int64_t j = 0; j < keys; ++j) weights(i, j) /= sum;
  }
  Array output({queries, width});
  for (std::int64_t i = 0; i < queries; ++i) {
    for (std::int64_t j = 0; j < keys; ++j) {
      for (std::int64_t c = 0; c < width; ++c) output(i, c) += weights(i, j) * v(j, c);
    }
  }
  return output;
}

int main() { return learn::serve({{"attention", learn::function(attention)}}); }
