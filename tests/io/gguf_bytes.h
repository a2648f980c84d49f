// SPDX-License-Identifier: Apache-2.0
// GGUF files by hand, from the description of the format.
#pragma once

#include <initializer_list>

#include "io/bytes.h"

namespace locus::io {

class GgufBytes {
 public:
  GgufBytes(std::uint64_t tensors, std::uint64_t entries, std::uint32_t version = 3) {
    bytes_.text("GGUF").number(version).number(tensors).number(entries);
  }

  GgufBytes& string(std::string_view text) {
    bytes_.number(std::uint64_t{text.size()}).text(text);
    return *this;
  }
  /// A key and the type of its value; the value follows.
  GgufBytes& key(std::string_view key, std::uint32_t type) {
    string(key);
    return number(type);
  }
  template <class T>
  GgufBytes& number(T value) {
    bytes_.number(value);
    return *this;
  }
  GgufBytes& text_entry(std::string_view name, std::string_view value) { return key(name, 8).string(value); }
  GgufBytes& uint32_entry(std::string_view name, std::uint32_t value) { return key(name, 4).number(value); }
  GgufBytes& float_entry(std::string_view name, float value) { return key(name, 6).number(value); }
  /// Lengths innermost first, as the file has them.
  GgufBytes& tensor(std::string_view name, std::initializer_list<std::int64_t> lengths, std::uint32_t type,
                    std::uint64_t offset) {
    string(name).number(static_cast<std::uint32_t>(lengths.size()));
    for (const std::int64_t length : lengths) number(length);
    return number(type).number(offset);
  }
  GgufBytes& pad_to(std::size_t alignment) {
    bytes_.pad_to(alignment);
    return *this;
  }
  GgufBytes& zeros(std::size_t count) {
    bytes_.zeros(count);
    return *this;
  }
  GgufBytes& raw(std::string_view text) {
    bytes_.text(text);
    return *this;
  }
  const std::string& str() const { return bytes_.str(); }

 private:
  Bytes bytes_;
};

}  // namespace locus::io
