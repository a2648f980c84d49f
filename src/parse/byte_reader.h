// SPDX-License-Identifier: Apache-2.0
// Reads untrusted little-endian bytes: a bounds-checked cursor, and overflow-checked sizes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "locus/error.h"

namespace locus::io {

static_assert(std::endian::native == std::endian::little, "numbers are used as they are stored");

/// Loads a number from any address, aligned or not.
template <class T>
T load(const std::byte* from) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

/// Formats text of a file for a message: quoted, printable and not too long.
inline std::string shown(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) result.push_back(c >= ' ' && c <= '~' ? c : '?');
  return result + (text.size() > longest ? "...'" : "'");
}

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads the next bytes. Error: too few bytes; the message says what is truncated. `name` must outlive the reader.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, const std::string& name) : bytes_(bytes), name_(name) {}

  std::size_t at() const { return at_; }
  std::size_t remaining() const { return bytes_.size() - at_; }
  const std::string& name() const { return name_; }

  std::span<const std::byte> take(std::uint64_t size, std::string_view what) {
    require(size <= remaining(), name_, ": truncated, ", what, " needs ", size, " bytes at byte ", at_, ", only ",
            remaining(), " are left");
    const auto taken = bytes_.subspan(at_, static_cast<std::size_t>(size));
    at_ += taken.size();
    return taken;
  }

  template <class T>
  T number(std::string_view what) {
    return load<T>(take(sizeof(T), what).data());
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& name_;
  std::size_t at_ = 0;
};

/// Returns a x b. Error: a product above 2^63 - 1, the limit of signed sizes.
template <class... Subject>
std::uint64_t checked_multiply(std::uint64_t a, std::uint64_t b, const Subject&... subject) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  require(b == 0 || a <= most / b, subject..., " is larger than 2^63 - 1 (", a, " x ", b, ")");
  return a * b;
}

/// Returns the number of elements. An axis of length zero does not excuse an overflow of the others, since strides
/// would overflow.
template <class... Subject>
std::uint64_t checked_elements(std::span<const std::int64_t> shape, const Subject&... subject) {
  std::uint64_t elements = 1;
  bool empty = false;
  for (const std::int64_t length : shape) {
    require(length >= 0, subject..., " must not have negative lengths in its shape, got ", length);
    empty = empty || length == 0;
    if (length != 0) elements = checked_multiply(elements, static_cast<std::uint64_t>(length), subject...);
  }
  return empty ? 0 : elements;
}

}  // namespace locus::io
