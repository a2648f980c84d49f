// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: a hardened reader and an atomic writer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locus/element.h"

namespace locus::io {

/// The element type of an array. bfloat16 has no NumPy name: it is stored as `<u2`, and only the caller knows.
enum class NpyType : std::uint8_t {
  float32,
  float64,
  float16,
  int32,
  int64,
  uint8,
  int8,
  int16,
  uint16,
  uint32,
  uint64,
  boolean
};

std::string_view name_of(NpyType type);  ///< NumPy's name: float32, bool

/// An array in C order. `bytes` holds its elements, little endian.
struct NpyArray {
  NpyType type = NpyType::float32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  std::int64_t size() const;  ///< number of elements
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// Reads versions 1.0 to 3.0, little endian, C order.
/// Error: a malformed file; the message names the file and the fault.
/// Cost: allocates at most the size of the file.
NpyArray read_npy(const std::filesystem::path& path);
/// Parses a file in memory. `name` starts every message.
NpyArray parse_npy(std::span<const std::byte> file, const std::string& name);

/// Writes version 1.0 atomically (atomic_file.h).
void write_npy(const std::filesystem::path& path, NpyType type, std::span<const std::int64_t> shape,
               std::span<const std::byte> bytes);

/// Convert the elements. Integers beyond 2^24 are rounded to float32. `name` starts every message.
std::vector<float> to_floats(const NpyArray& array, const std::string& name);
std::vector<double> to_doubles(const NpyArray& array, const std::string& name);
/// Converts integer arrays.
/// Error: real elements, uint64 beyond int64.
std::vector<std::int64_t> to_integers(const NpyArray& array, const std::string& name);

template <class T>
struct NpyTypeOf;
template <>
struct NpyTypeOf<float> {
  static constexpr NpyType value = NpyType::float32;
};
template <>
struct NpyTypeOf<double> {
  static constexpr NpyType value = NpyType::float64;
};
template <>
struct NpyTypeOf<Float16> {
  static constexpr NpyType value = NpyType::float16;
};
template <>
struct NpyTypeOf<std::uint16_t> {
  static constexpr NpyType value = NpyType::uint16;
};
template <>
struct NpyTypeOf<std::int32_t> {
  static constexpr NpyType value = NpyType::int32;
};
template <>
struct NpyTypeOf<std::int64_t> {
  static constexpr NpyType value = NpyType::int64;
};

template <class T>
void write_npy(const std::filesystem::path& path, std::span<const std::int64_t> shape, std::span<const T> values) {
  write_npy(path, NpyTypeOf<T>::value, shape, std::as_bytes(values));
}

}  // namespace locus::io
