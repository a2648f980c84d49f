#include "locus_exercise.h"

#include <cmath>

using Attend = std::function<Array(const Array&)>;

Array permuted(const Array& x, const Ids& order) {
  Array result(x.shape);
  for (std::int64_t i = 0; i < x.shape[0]; ++i) {
    for (std::int64_t c = 0; c < x.shape[1]; ++c) result(i, c) = x(order[i], c);
  }
  return result;
}

bool differ(const Array& a, const Array& b) {
  for (std::size_t i = 0; i < a.values.size(); ++i) {
    if (std::abs(a.values[i] - b.values[i]) > 1e-9) return true;
  }
  return false;
}

Ids convict(const Attend& attend, const Array& x) {
  const Array output = attend(x);
  for (std::int64_t i = 0; i < x.shape[0]; ++i) {
    for (std::int64_t j = i + 1; j < x.shape[0]; ++j) {
      Ids order;
      for (std::int64_t t = 0; t < x.shape[0]; ++t) order.push_back(t);
      std::swap(order[i], order[j]);
      if (differ(attend(permuted(x, order)), permuted(output, order))) return order;
    }
  }
  return {};
}

int main() { return learn::serve({{"convict", learn::function(convict)}}); }
