// SPDX-License-Identifier: Apache-2.0
#include "learn/laws/compare.h"

#include <algorithm>
#include <cmath>

namespace locus::learn {

Array random_array(Random& random, const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  Array array{shape, {}, false};
  for (std::int64_t i = 0; i < count; ++i) array.values.push_back(2 * random.uniform() - 1);
  return array;
}

bool agree(double a, double b) { return std::abs(a - b) <= tolerance * std::max({1.0, std::abs(a), std::abs(b)}); }

bool agree(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && first_difference(a, b) == a.size();
}

std::size_t first_difference(const std::vector<double>& a, const std::vector<double>& b) {
  std::size_t i = 0;
  while (i < std::min(a.size(), b.size()) && agree(a[i], b[i])) ++i;
  return i;
}

std::string likely_cause(const std::vector<double>& got, const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    if (agree(got, mistake.numbers())) return std::string(mistake.cause);
  }
  return {};
}

void require_equal(const std::vector<double>& got, const std::vector<double>& wanted, const std::string& law,
                   const std::string& cause, const std::function<Parameters(std::size_t)>& where) {
  if (agree(got, wanted)) return;
  throw BrokenLaw{law, cause, where ? where(first_difference(got, wanted)) : Parameters{}};
}

std::function<Parameters(std::size_t)> at_token(const Array& array, const std::vector<std::int64_t>& ids) {
  const std::size_t row = array.values.size() / static_cast<std::size_t>(std::max<std::int64_t>(1, array.shape.at(0)));
  return [row, ids](std::size_t index) {
    const std::size_t token = index / std::max<std::size_t>(1, row);
    Parameters parameters = {{"token", std::to_string(token)}};
    if (token < ids.size()) parameters["position"] = std::to_string(ids[token]);
    return parameters;
  };
}

}  // namespace locus::learn
