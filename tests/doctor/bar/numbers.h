// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the generator: number types, frequencies and angles by their definitions, in long double.
// Independent of the library.
#pragma once

#include <cstdint>
#include <vector>

namespace locus::bar {

enum class Type { float64, float32, bfloat16, float16 };
const char* name_of(Type type);

/// Returns the nearest number of the type, ties to even.
double rounded(Type type, double value);

/// The arithmetic of one engine.
struct Numerics {
  Type before = Type::float32;  ///< storage
  Type after = Type::float32;
  Type steps = Type::float64;  ///< every product and sum, and the tables of cos and sin
  bool fused = false;          ///< one rounding for a product and a sum
  bool float32_angles = false;
  double noise = 0;  ///< standard deviation of the noise added to `after`
};

/// A RoPE rule with its parameters.
struct RuleOf {
  enum class Kind { none, linear, ntk, yarn, llama3, proportional };
  Kind kind = Kind::none;
  double base = 10000;
  double factor = 1;
  double original = 4096;
  double fraction = 0.25;
};
const char* name_of(RuleOf::Kind kind);

/// Returns radians per position of `width` / 2 pairs.
std::vector<long double> frequencies(const RuleOf& rule, std::int64_t width);
/// Returns the factor on cos and sin.
double magnitude(const RuleOf& rule);

}  // namespace locus::bar
