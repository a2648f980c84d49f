#include "locus_exercise.h"

Ids decode_ids(std::int64_t prefix, std::int64_t tokens) {
  Ids ids;
  for (std::int64_t t = 0; t < tokens; ++t) ids.push_back(prefix + t);
  return ids;
}

Ids padded_ids(const Ids& mask) {
  Ids ids;
  std::int64_t seen = 0;
  for (const std::int64_t one : mask) {
    seen += one;
    ids.push_back(seen > 0 ? seen - 1 : 0);
  }
  return ids;
}

Ids packed_ids(const Ids& lengths) {
  Ids ids;
  for (const std::int64_t length : lengths) {
    for (std::int64_t t = 0; t < length; ++t) ids.push_back(t);
  }
  return ids;
}

int main() {
  return learn::serve({{"decode_ids", learn::function(decode_ids)},
                       {"padded_ids", learn::function(padded_ids)},
                       {"packed_ids", learn::function(packed_ids)}});
}
