#include "locus_exercise.h"

#include <cmath>

Array rotated(const Array& x, std::int64_t position) {
  const std::int64_t dim = x.shape[0];
  Array result({dim});
  for (std::int64_t i = 0; i < dim / 2; ++i) {
    const double angle = position * std::pow(10000.0, -2.0 * i / dim);
    const std::int64_t a = i, b = i + dim / 2;
    result(a) = x(a) * std::cos(angle) - x(b) * std::sin(angle);
    result(b) = x(b) * std::cos(angle) + x(a) * std::sin(angle);
  }
  return result;
}

double relative_score(const Array& q, const Array& k, std::int64_t r) {
  const Array turned = rotated(q, r);
  double score = 0;
  for (std::int64_t c = 0; c < q.shape[0]; ++c) score += turned(c) * k(c);
  return score;
}

int main() { return learn::serve({{"relative_score", learn::function(relative_score)}}); }
