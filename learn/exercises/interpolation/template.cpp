#include "locus_exercise.h"

#include <algorithm>

Array interpolated(const Ids& positions, std::int64_t trained, std::int64_t served) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"interpolated", learn::function(interpolated)}}); }
