#include "locus_exercise.h"

#include <cmath>

Array shift_keys(const Array& keys, const Ids& old_ids, const Ids& new_ids) {
  throw learn::NotWritten();
}

int main() { return learn::serve({{"shift_keys", learn::function(shift_keys)}}); }
