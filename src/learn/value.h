// SPDX-License-Identifier: Apache-2.0
// The values that go to a learner's function and come back.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

namespace locus::learn {

using Shape = std::vector<std::int64_t>;

/// Numbers in C order. Integers are held as doubles, exactly up to 2^53; a single number has no axes.
struct Array {
  Shape shape = {};
  std::vector<double> values = {};
  bool integer = false;

  static Array real(Shape shape, std::vector<double> values) { return {std::move(shape), std::move(values), false}; }
  static Array ids(const std::vector<std::int64_t>& ids) {
    return {{static_cast<std::int64_t>(ids.size())}, {ids.begin(), ids.end()}, true};
  }
  static Array number(std::int64_t value) { return {{}, {static_cast<double>(value)}, true}; }

  std::int64_t size(std::size_t axis) const { return shape.at(axis); }
  double& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * shape[1] + j)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return values[static_cast<std::size_t>(i * shape[1] + j)]; }
};

/// A function of the grader that the learner's function calls.
using Callback = std::function<Array(const Array&)>;

using Argument = std::variant<Array, std::string, Callback>;

}  // namespace locus::learn
