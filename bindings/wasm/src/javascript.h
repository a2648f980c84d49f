// SPDX-License-Identifier: Apache-2.0
// Values between JavaScript and C++: typed arrays by copy, and exceptions as objects.
#pragma once

#include <emscripten/val.h>

#include <exception>
#include <string>
#include <vector>

#include "locus/position_ids.h"

namespace locus::wasm {

using emscripten::val;

/// Returns a copy of the numbers as a typed array of JavaScript's own memory: a view would end when the memory grows.
template <class Number>
val to_array(const std::vector<Number>& numbers) {
  return val(emscripten::typed_memory_view(numbers.size(), numbers.data())).template call<val>("slice");
}

/// Returns the numbers of any array.
template <class Number>
std::vector<Number> to_vector(const val& array) {
  return emscripten::convertJSArrayToNumberVector<Number>(array);
}

inline std::vector<Position> to_positions(const val& array) {
  const std::vector<double> numbers = to_vector<double>(array);
  return {numbers.begin(), numbers.end()};
}

/// Calls `work`. An exception becomes { error: message }, which locus.js throws as an Error.
template <class Work>
val guarded(const Work& work) {
  try {
    return work();
  } catch (const std::exception& error) {
    val failure = val::object();
    failure.set("error", std::string(error.what()));
    return failure;
  }
}

}  // namespace locus::wasm
