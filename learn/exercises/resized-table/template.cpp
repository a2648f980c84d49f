#include "locus_exercise.h"

#include <algorithm>
#include <cmath>

Array resized(const Array& table, std::int64_t length) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"resized", learn::function(resized)}}); }
