// SPDX-License-Identifier: Apache-2.0
// Structs that carry their size. A program may have been compiled with an older or a newer locus.h than the library:
// members that the caller does not have are 0, which means their defaults, and members that the library does not know
// must be 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "convert.h"
#include "handles.h"

namespace locus::c {

/// Checks the size that a caller states. Error: 0, or what no version of the struct has; memory that was never set
/// would otherwise be read as a size.
template <class Struct>
std::size_t checked_size(const Struct& given, const char* name) {
  constexpr std::size_t largest = 4096;
  require(given.size != 0, name, ".size must be the sizeof of its struct (", sizeof(Struct),
          " in this version), got 0: it was not set");
  require(given.size % alignof(Struct) == 0 && given.size <= largest, name, ".size must be the sizeof of its struct (",
          sizeof(Struct), " in this version), got ", given.size);
  return given.size;
}

/// Returns a copy with all members of this version; `size` stays the caller's. Error: a member that this version does
/// not know and that is not 0.
template <class Struct>
Struct read_sized(const Struct* given, const char* name) {
  const std::size_t size = checked_size(at(given, name), name);
  const auto* bytes = reinterpret_cast<const std::byte*>(given);
  for (std::size_t i = sizeof(Struct); i < size; ++i) {
    require(bytes[i] == std::byte{0}, name, " has members that locus " LOCUS_VERSION " does not know: byte ", i, " of ",
            size, " is not 0");
  }
  Struct known = {};
  std::memcpy(&known, bytes, std::min(size, sizeof(Struct)));
  return known;
}

/// The same for an array, whose elements all have the size of the first one.
template <class Struct>
std::vector<Struct> read_all_sized(const Struct* first, std::int64_t count, const char* name) {
  std::vector<Struct> all;
  if (span_of(first, count, name).empty()) return all;
  const std::size_t size = checked_size(*first, name);
  const auto* bytes = reinterpret_cast<const std::byte*>(first);
  for (std::int64_t i = 0; i < count; ++i, bytes += size) {
    all.push_back(read_sized(reinterpret_cast<const Struct*>(bytes), name));
    require(all.back().size == size, name, ": all elements must have the size of the first one (", size, "), got ",
            all.back().size, " at index ", i);
  }
  return all;
}

/// Writes the members that the caller has. Those that only a newer caller has become 0.
template <class Struct>
void write_sized(Struct* out, Struct value, const char* name) {
  value.size = checked_size(at(out, name), name);
  auto* bytes = reinterpret_cast<std::byte*>(out);
  const std::size_t shared = std::min(value.size, sizeof(Struct));
  std::memcpy(bytes, &value, shared);
  std::memset(bytes + shared, 0, value.size - shared);
}

}  // namespace locus::c
