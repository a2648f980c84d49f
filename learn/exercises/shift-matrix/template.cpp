#include "locus_exercise.h"

#include <cmath>

Array shift_matrix(std::int64_t k, std::int64_t dim) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"shift_matrix", learn::function(shift_matrix)}}); }
