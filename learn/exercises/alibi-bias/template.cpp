#include "locus_exercise.h"

#include <cmath>

Array bias(const Array& slopes, const Ids& query_ids, const Ids& key_ids) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"bias", learn::function(bias)}}); }
