#include "locus_exercise.h"

#include <cmath>

Array attention(const Array& q, const Array& k, const Array& v) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"attention", learn::function(attention)}}); }
