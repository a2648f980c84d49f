// SPDX-License-Identifier: Apache-2.0
// What the C++ library of Emscripten 3.1.6 lacks, with the meaning of the standard. The compiler includes this file before
// every other one; with a newer library it defines nothing.
#pragma once

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <system_error>

namespace std {

#ifndef __cpp_lib_bit_cast
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}
#endif

#ifndef __cpp_lib_to_chars

namespace locus_missing {

inline const char* past_digits(const char* at, const char* last) {
  while (at != last && *at >= '0' && *at <= '9') ++at;
  return at;
}

/// Returns the end of the longest decimal number at the start of the text; `first` if there is none.
inline const char* past_number(const char* first, const char* last) {
  const char* at = first;
  if (at != last && *at == '-') ++at;
  const char* whole = past_digits(at, last);
  const char* end = whole;
  if (whole != last && *whole == '.') end = past_digits(whole + 1, last);
  const bool point_alone = end == whole + 1 && whole == at;
  if (end == at || point_alone) return first;
  if (end == last || (*end != 'e' && *end != 'E')) return end;
  const char* exponent = end + 1;
  if (exponent != last && (*exponent == '-' || *exponent == '+')) ++exponent;
  const char* after = past_digits(exponent, last);
  return after == exponent ? end : after;
}

/// Returns the end of `inf`, `infinity` or `nan`, in any case; `first` if it is none of them.
inline const char* past_name(const char* first, const char* last) {
  const char* at = first != last && *first == '-' ? first + 1 : first;
  for (const char* name : {"infinity", "inf", "nan"}) {
    const char* end = at;
    const char* letter = name;
    while (*letter != '\0' && end != last && (*end | 0x20) == *letter) ++end, ++letter;
    if (*letter == '\0') return end;
  }
  return first;
}

}  // namespace locus_missing

/// The nearest double, as strtod reads it in the C locale, which is the only one here.
inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const char* end = locus_missing::past_number(first, last);
  if (end == first) end = locus_missing::past_name(first, last);
  if (end == first) return {first, errc::invalid_argument};
  errno = 0;
  const double read = strtod(string(first, end).c_str(), nullptr);
  if (errno == ERANGE && (read == 0 || read > 1 || read < -1)) return {end, errc::result_out_of_range};
  value = read;
  return {end, errc()};
}

/// The fewest digits that read back as the same float32.
inline to_chars_result to_chars(char* first, char* last, float value) {
  char text[48];
  int size = 0;
  for (int digits = 1; digits <= 9; ++digits) {
    size = snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    if (strtof(text, nullptr) == value) break;
  }
  if (last - first < size) return {last, errc::value_too_large};
  return {string(text, static_cast<size_t>(size)).copy(first, static_cast<size_t>(size)) + first, errc()};
}

#endif

}  // namespace std
