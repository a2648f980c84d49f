#include "locus_exercise.h"

Ids decode_ids(std::int64_t prefix, std::int64_t tokens) {
  throw learn::NotWritten();
}

Ids padded_ids(const Ids& mask) {
  throw learn::NotWritten();
}

Ids packed_ids(const Ids& lengths) {
  throw learn::NotWritten();
}

int main() {
  return learn::serve({{"decode_ids", learn::function(decode_ids)},
                       {"padded_ids", learn::function(padded_ids)},
                       {"packed_ids", learn::function(packed_ids)}});
}
