#include "locus_exercise.h"

#include <cmath>

Array encode(const Array& x) {
  Array encoded = x;
  const std::int64_t tokens = x.shape[0];
  for (std::int64_t t = 0; t < tokens; ++t) {
    encoded(t, 0) += 0.1 * static_cast<double>(t);
  }
  return encoded;
}

int main() { return learn::serve({{"encode", learn::function(encode)}}); }
