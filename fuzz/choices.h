// SPDX-License-Identifier: Apache-2.0
// Decisions of a fuzzer, from which a target builds a file that a reader takes for a real one. Behind the last byte every
// decision is 0, so a short input makes a small, valid file; a fault is made only where a byte asks for one.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace locus::fuzz {

class Choices {
 public:
  Choices(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}

  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const std::uint8_t first = rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }
  bool more() const { return !rest_.empty(); }

  /// Returns a number from 0 to end - 1, at most 65535.
  std::size_t below(std::size_t end) {
    const std::size_t number = end > 256 ? byte() * 256U + byte() : byte();
    return end == 0 ? 0 : number % end;
  }
  bool flag() { return (byte() & 1U) != 0; }
  /// Whether to make a fault here: 1 byte of 32.
  bool fault() { return byte() >= 248; }

  template <class Value, std::size_t count>
  const Value& of(const Value (&values)[count]) {
    return values[below(count)];
  }

  /// Small numbers, and sometimes those at which arithmetic or a check of a size goes wrong.
  std::int64_t integer() {
    static constexpr std::int64_t edges[] = {-1,         255,           256,       65535,     65536,     0x7fffffff,
                                             0x80000000, 0xffffffff,    1LL << 40, 1LL << 61, 1LL << 62, INT64_MAX,
                                             INT64_MIN,  INT64_MIN + 1, -2,        1LL << 48};
    const std::uint8_t first = byte();
    if (first < 192) return first % 64;
    if (first < 240) return static_cast<std::int64_t>(byte()) * 128 + (first - 192);
    return edges[first - 240];
  }
  double real() {
    static constexpr double edges[] = {0.0,  -0.0,   -1.0, 1e-320, 1e308,        1e-30,
                                       1e30, 3.4e38, 0.1,  1e9,    2147483648.0, 9.3e18};
    const std::uint8_t first = byte();
    if (first < 128) return first / 4.0;
    if (first < 160) return static_cast<double>(byte()) * 1000 + first;
    return edges[first % std::size(edges)];
  }
  /// Up to 15 bytes of plain letters, characters of several bytes or, rarely, any bytes.
  std::string text() {
    static constexpr std::string_view letters[] = {
        "a", "b",  "e", "s", " ", "0", "_", ".", "\xC3\xA9", "\xE2\x96\x81", "\xF0\x9F\x98\x80",
        "'", "\n", "<", ">", "/"};
    const std::size_t length = below(16);
    std::string made;
    for (std::size_t i = 0; i < length; ++i) {
      const std::uint8_t next = byte();
      if (next < 240) {
        made += letters[next % std::size(letters)];
      } else {
        made += static_cast<char>(byte());
      }
    }
    return made;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

/// Appends the bytes of a number, little endian as all formats that are read here.
template <class Number>
void put(std::string& file, Number number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  file.append(bytes, sizeof number);
}

inline std::span<const std::byte> bytes_of(const std::string& file) {
  return std::as_bytes(std::span(file.data(), file.size()));
}

/// Cuts or lengthens the finished file, where a byte asks for it.
inline void damage(std::string& file, Choices& choices) {
  if (!choices.fault()) return;
  if (choices.flag()) {
    file.resize(choices.below(file.size() + 1));
  } else {
    file.append(choices.below(40), static_cast<char>(choices.byte()));
  }
}

}  // namespace locus::fuzz
