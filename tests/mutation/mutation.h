// SPDX-License-Identifier: Apache-2.0
// Faults behind a run-time switch, for scripts/mutation only. No build of Locus includes this.
//
// The script turns `a < b` into `a < Less<17>{} > b` and the like. Precedence stays what it was, for the operators
// on both sides of the switch are of the same rank; types stay, for both operands are handed through as they come.
// LOCUS_MUTANT=17 in the environment lets mutant 17 act; LOCUS_MUTANT_REACHED=FILE writes which ones were come by.
// Nothing here is constexpr: a fault in what the compiler evaluates does not compile, and is left out.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace locus_mutation {

inline constexpr int most = 4096;
inline constexpr int unread = -2;

// Of plain types, so that they exist before any constructor runs.
inline int active = unread;
inline bool reached[most];

inline void write_reached() {
  std::FILE* const file = std::fopen(std::getenv("LOCUS_MUTANT_REACHED"), "a");
  if (file == nullptr) return;
  for (int i = 0; i < most; ++i) {
    if (reached[i]) std::fprintf(file, "%d\n", i);
  }
  std::fclose(file);
}

inline void read_environment() {
  const char* const number = std::getenv("LOCUS_MUTANT");
  active = number == nullptr ? -1 : std::atoi(number);
  if (std::getenv("LOCUS_MUTANT_REACHED") != nullptr) std::atexit(write_reached);
}

template <int id>
bool acts() {
  if (active == unread) read_environment();
  if (!reached[id]) reached[id] = true;
  return active == id;
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
  name##_left<id, A> operator before(A&& a, name<id>) {                                     \
    return {static_cast<A&&>(a)};                                                           \
  }                                                                                         \
  template <int id, class A, class B>                                                       \
  auto operator after(name##_left<id, A> a, B&& b) {                                        \
    if constexpr (requires { static_cast<A&&>(a.value) mutated static_cast<B&&>(b); }) {    \
      using Result = decltype(static_cast<A&&>(a.value) original static_cast<B&&>(b));      \
      if (acts<id>()) return Result(static_cast<A&&>(a.value) mutated static_cast<B&&>(b)); \
    } else {                                                                                \
      static_assert(id < 0, "this fault means nothing for these types");                    \
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
T constant(T original, T mutated) {
  return acts<id>() ? mutated : original;
}

/// A condition, or its opposite.
template <int id, class T>
bool condition(T&& value) {
  return acts<id>() != static_cast<bool>(value);
}

/// std::max instead of std::min, and vice versa.
template <int id, bool is_max, class T = void, class A, class B>
auto extreme(const A& a, const B& b) {
  using Common = std::conditional_t<std::is_void_v<T>, std::common_type_t<A, B>, T>;
  const Common x = a, y = b;
  return acts<id>() != is_max ? std::max(x, y) : std::min(x, y);
}

}  // namespace locus_mutation
