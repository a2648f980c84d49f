#include "locus_exercise.h"

#include <cmath>

using Attend = std::function<Array(const Array&)>;

Ids convict(const Attend& attend, const Array& x) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"convict", learn::function(convict)}}); }
