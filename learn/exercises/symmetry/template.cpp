#include "locus_exercise.h"

#include <cmath>

Array encode(const Array& x) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"encode", learn::function(encode)}}); }
