#include "locus_exercise.h"

#include <cmath>

Array rows(const Ids& positions, std::int64_t dim) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"rows", learn::function(rows)}}); }
