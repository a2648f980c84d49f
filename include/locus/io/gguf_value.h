// SPDX-License-Identifier: Apache-2.0
// One value of a GGUF file's metadata.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace locus::io {

/// Numbered as in the file.
enum class GgufValueType : std::uint32_t {
  uint8 = 0,
  int8 = 1,
  uint16 = 2,
  int16 = 3,
  uint32 = 4,
  int32 = 5,
  float32 = 6,
  boolean = 7,
  text = 8,
  array = 9,
  uint64 = 10,
  int64 = 11,
  float64 = 12
};

std::string_view name_of(GgufValueType type);  ///< GGUF's name: uint32, string, ...

template <class T>
constexpr GgufValueType gguf_value_type() {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= 8, "GGUF stores numbers of up to 64 bits");
  using enum GgufValueType;
  if constexpr (std::is_same_v<T, bool>) return boolean;
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? float32 : float64;
  constexpr bool with_sign = std::is_signed_v<T>;
  if constexpr (sizeof(T) == 1) return with_sign ? int8 : uint8;
  if constexpr (sizeof(T) == 2) return with_sign ? int16 : uint16;
  if constexpr (sizeof(T) == 4) return with_sign ? int32 : uint32;
  return with_sign ? int64 : uint64;
}

/// A value: its type, and its bytes as in the file, so that copying a file loses nothing. The getters decode.
/// Error (getters): a value of another type or a malformed one; `what` (file and key) starts the message.
struct GgufValue {
  GgufValueType type = GgufValueType::uint8;
  std::vector<std::byte> bytes;

  template <class T>
  requires std::is_arithmetic_v<T>
  static GgufValue of(T number);
  static GgufValue of(std::string_view text);
  template <class T>
  static GgufValue of_array(std::span<const T> numbers);
  static GgufValue of_array(std::span<const std::string> texts);
  static GgufValue of_array(std::span<const GgufValue> arrays);  ///< an array of arrays

  std::int64_t integer(const std::string& what) const;  ///< any integer type; Error: uint64 beyond int64
  double real(const std::string& what) const;           ///< float32 or float64
  bool boolean(const std::string& what) const;
  std::string text(const std::string& what) const;

  GgufValueType element_type(const std::string& what) const;  ///< of an array
  std::vector<std::int64_t> integers(const std::string& what) const;
  std::vector<double> reals(const std::string& what) const;
  std::vector<bool> booleans(const std::string& what) const;
  std::vector<std::string> texts(const std::string& what) const;
  std::vector<GgufValue> arrays(const std::string& what) const;  ///< of an array of arrays

  friend bool operator==(const GgufValue&, const GgufValue&) = default;

 private:
  static GgufValue of_elements(GgufValueType element_type, std::uint64_t count, std::span<const std::byte> elements);
};

template <class T>
requires std::is_arithmetic_v<T> GgufValue GgufValue::of(T number) {
  GgufValue value{gguf_value_type<T>(), std::vector<std::byte>(sizeof(T))};
  std::memcpy(value.bytes.data(), &number, sizeof(T));
  return value;
}

template <class T>
GgufValue GgufValue::of_array(std::span<const T> numbers) {
  return of_elements(gguf_value_type<T>(), numbers.size(), std::as_bytes(numbers));
}

}  // namespace locus::io
