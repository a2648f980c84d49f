#include "locus_exercise.h"

#include <cmath>

Array slopes(std::int64_t heads) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"slopes", learn::function(slopes)}}); }
