// SPDX-License-Identifier: Apache-2.0
#include "doctor/bar/numbers.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace locus::bar {
namespace {

// `bits` of significand, exponents from `least`.
double to_bits(double value, int bits, int least, double largest) {
  if (value == 0) return 0;
  const int exponent = std::max(std::ilogb(value), least);
  const double unit = std::ldexp(1.0, exponent - bits + 1);
  return std::clamp(std::nearbyint(value / unit) * unit, -largest, largest);
}

}  // namespace

const char* name_of(Type type) {
  constexpr const char* names[] = {"float64", "float32", "bfloat16", "float16"};
  return names[static_cast<int>(type)];
}

const char* name_of(RuleOf::Kind kind) {
  constexpr const char* names[] = {"none", "linear", "ntk", "yarn", "llama3", "proportional"};
  return names[static_cast<int>(kind)];
}

double rounded(Type type, double value) {
  switch (type) {
    case Type::float64:
      return value;
    case Type::float32:
      return to_bits(value, 24, -126, 3.4e38);
    case Type::bfloat16:
      return to_bits(value, 8, -126, 3.38e38);
    case Type::float16:
      break;
  }
  return to_bits(value, 11, -14, 65504);
}

std::vector<long double> frequencies(const RuleOf& rule, std::int64_t width) {
  const long double d = static_cast<long double>(width);
  const long double base = rule.kind == RuleOf::Kind::ntk
                               ? rule.base * std::pow(static_cast<long double>(rule.factor), d / (d - 2))
                               : rule.base;
  const long double pi2 = 2 * std::numbers::pi_v<long double>;
  const auto pair_of = [&](long double turns) {
    return d * std::log(rule.original / (pi2 * turns)) / (2 * std::log(base));
  };
  long double low = std::max(std::floor(pair_of(32)), 0.0L);
  long double high = std::min(std::ceil(pair_of(1)), d - 1);
  if (low == high) high += 0.001L;
  std::vector<long double> all;
  for (std::int64_t i = 0; i < width / 2; ++i) {
    const long double n = static_cast<long double>(i);
    long double w = std::pow(base, -2 * n / d);
    if (rule.kind == RuleOf::Kind::linear) w /= rule.factor;
    if (rule.kind == RuleOf::Kind::yarn) {
      const long double ramp = std::clamp((n - low) / (high - low), 0.0L, 1.0L);
      w = w / rule.factor * ramp + w * (1 - ramp);
    }
    if (rule.kind == RuleOf::Kind::llama3) {
      const long double turns = rule.original * w / pi2;  // within the trained length
      const long double keep = std::clamp((turns - 1) / 3, 0.0L, 1.0L);
      w = w / rule.factor * (1 - keep) + w * keep;
    }
    if (rule.kind == RuleOf::Kind::proportional && n >= std::floor(rule.fraction * static_cast<double>(width) / 2))
      w = 0;
    all.push_back(w);
  }
  return all;
}

double magnitude(const RuleOf& rule) { return rule.kind == RuleOf::Kind::yarn ? 1 + 0.1 * std::log(rule.factor) : 1; }

}  // namespace locus::bar
