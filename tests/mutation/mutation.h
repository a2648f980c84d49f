// SPDX-License-Identifier: Apache-2.0
// Faults behind a run-time switch, for scripts/mutation only. No build of Locus includes this.
//
// The script turns `a < b` into `a < Less<17>{} > b` and similar. Precedence is kept, because the operators on both
// sides of the switch have the same rank; types are kept, because both operands are forwarded. LOCUS_MUTANT=17 in the
// environment enables mutant 17; LOCUS_MUTANT_REACHED=FILE records which mutants were reached.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <type_traits>

namespace locus_mutation {

inline constexpr int most = 4096;

struct State {
  int active = -1;
  bool reached[most] = {};
  State() {
    if (const char* number = std::getenv("LOCUS_MUTANT")) active = std::atoi(number);
  }
  ~State() {
    const char* const path = std::getenv("LOCUS_MUTANT_REACHED");
    std::FILE* const file = path == nullptr ? nullptr : std::fopen(path, "a");
    if (file == nullptr) return;
    for (int i = 0; i < most; ++i) {
      if (reached[i]) std::fprintf(file, "%d\n", i);
    }
    std::fclose(file);
  }
};

inline State& state() {
  static State one;
  return one;
}

template <int id>
constexpr bool acts() {
  if (std::is_constant_evaluated()) return false;
  State& s = state();
  s.reached[id] = true;
  return s.active == id;
}

// One type per operator and mutant, so that no other overload is considered.
#define LOCUS_MUTATED_OPERATOR(name, before, after, mutated, original)                      \
  template <int id>                                                                         \
  struct name {};                                                                           \
  template <int id, class A>                                                                \
  struct name##_left {                                                                      \
    A&& value;                                                                              \
  };                                                                                        \
  template <int id, class A>                                                                \
  constexpr name##_left<id, A> operator before(A&& a, name<id>) {                           \
    return {static_cast<A&&>(a)};                                                           \
  }                                                                                         \
  template <int id, class A, class B>                                                       \
  constexpr auto operator after(name##_left<id, A> a, B&& b) {                              \
    if constexpr (requires { static_cast<A&&>(a.value) mutated static_cast<B&&>(b); }) {    \
      using Result = decltype(static_cast<A&&>(a.value) original static_cast<B&&>(b));      \
      if (acts<id>()) return Result(static_cast<A&&>(a.value) mutated static_cast<B&&>(b)); \
    }                                                                                       \
    return static_cast<A&&>(a.value) original static_cast<B&&>(b);                          \
  }

LOCUS_MUTATED_OPERATOR(Less, <, >, <=, <)
LOCUS_MUTATED_OPERATOR(LessEqual, <, >, <, <=)
LOCUS_MUTATED_OPERATOR(Greater, <, >, >=, >)
LOCUS_MUTATED_OPERATOR(GreaterEqual, <, >, >, >=)
LOCUS_MUTATED_OPERATOR(Equal, ==, ==, !=, ==)
LOCUS_MUTATED_OPERATOR(NotEqual, ==, ==, ==, !=)
LOCUS_MUTATED_OPERATOR(Plus, +, +, -, +)
LOCUS_MUTATED_OPERATOR(Minus, -, -, +, -)
LOCUS_MUTATED_OPERATOR(Times, *, *, /, *)
LOCUS_MUTATED_OPERATOR(Over, *, *, *, /)
LOCUS_MUTATED_OPERATOR(Modulo, *, *, /, %)
#undef LOCUS_MUTATED_OPERATOR

/// A constant, or another one.
template <int id, class T>
constexpr T constant(T original, T mutated) {
  return acts<id>() ? mutated : original;
}

/// A condition, or its opposite.
template <int id, class T>
constexpr bool condition(T&& value) {
  return acts<id>() != static_cast<bool>(value);
}

/// std::max instead of std::min, and vice versa.
template <int id, bool is_max, class T = void, class A, class B>
constexpr auto extreme(const A& a, const B& b) {
  using Common = std::conditional_t<std::is_void_v<T>, std::common_type_t<A, B>, T>;
  const Common x = a, y = b;
  return acts<id>() != is_max ? std::max(x, y) : std::min(x, y);
}

}  // namespace locus_mutation
