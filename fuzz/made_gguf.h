// SPDX-License-Identifier: Apache-2.0
// GGUF files built from choices: a head with metadata of the right types, tensors that fit their data, faults on request.
#pragma once

#include "choices.h"

namespace locus::fuzz {

class MadeGguf {
 public:
  explicit MadeGguf(Choices& choices) : choices_(choices) {}

  void text_value(std::string_view key, std::string_view value) {
    begin(key, 8);
    put_text(entries_, value);
  }
  void number_value(std::string_view key) {
    static constexpr std::uint32_t types[] = {4, 5, 6, 10, 11, 12, 0, 1, 2, 3, 7};
    const std::uint32_t type = choices_.of(types);
    begin(key, type);
    put_number(type);
  }
  /// A list of `count` numbers, or of one fewer or more.
  void numbers_value(std::string_view key, std::size_t count) {
    static constexpr std::uint32_t types[] = {5, 6, 4, 11, 12, 7, 0};
    const std::uint32_t type = choices_.of(types);
    begin(key, 9);
    put(entries_, type);
    put(entries_, stated(count));
    for (std::size_t i = 0; i < count; ++i) put_number(type);
  }
  void texts_value(std::string_view key, const std::vector<std::string>& texts) {
    begin(key, 9);
    put(entries_, std::uint32_t{8});
    put(entries_, stated(texts.size()));
    for (const std::string& text : texts) put_text(entries_, text);
  }
  /// A list of lists.
  void nested_value(std::string_view key) {
    begin(key, 9);
    const std::size_t depth = 1 + choices_.below(10);
    for (std::size_t i = 0; i < depth; ++i) {
      put(entries_, std::uint32_t{9});
      put(entries_, stated(1));
    }
    put(entries_, std::uint32_t{5});
    put(entries_, stated(2));
    put_number(5);
    put_number(5);
  }

  void tensor(std::string_view name) {
    struct Type {
      std::uint32_t id;
      std::size_t block, bytes;
    };
    static constexpr Type types[] = {{0, 1, 4},   {1, 1, 2},      {30, 1, 2},     {8, 32, 34},
                                     {2, 32, 18}, {12, 256, 144}, {14, 256, 210}, {28, 1, 8}};
    const Type& type = choices_.of(types);
    const std::size_t axes = choices_.fault() ? choices_.below(8) : 1 + choices_.below(4);
    put_text(tensors_, name);
    put(tensors_, static_cast<std::uint32_t>(axes));
    std::size_t elements = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      const std::size_t extent = axis == 0 ? type.block * (1 + choices_.below(3)) : 1 + choices_.below(3);
      put(tensors_, stated(extent));
      elements *= extent;
    }
    put(tensors_, choices_.fault() ? static_cast<std::uint32_t>(choices_.integer()) : type.id);
    put(tensors_, stated(data_.size()));
    for (std::size_t i = 0; i < elements / type.block * type.bytes; ++i) data_ += static_cast<char>(i * 7 + elements);
    data_.resize((data_.size() + alignment - 1) / alignment * alignment);
    ++tensor_count_;
  }

  std::string file() {
    std::string made = choices_.fault() ? choices_.text() : "GGUF";
    static constexpr std::uint32_t versions[] = {3, 2};
    put(made, choices_.fault() ? static_cast<std::uint32_t>(choices_.integer()) : choices_.of(versions));
    put(made, stated(tensor_count_));
    put(made, stated(entry_count_));
    made += entries_ + tensors_;
    made.resize((made.size() + alignment - 1) / alignment * alignment);
    made += data_;
    damage(made, choices_);
    return made;
  }

 private:
  static constexpr std::size_t alignment = 32;

  /// A count or an offset as the file states it.
  std::uint64_t stated(std::size_t real) {
    if (!choices_.fault()) return real;
    return choices_.flag() ? real + 1 : static_cast<std::uint64_t>(choices_.integer());
  }
  void put_text(std::string& to, std::string_view text) {
    put(to, stated(text.size()));
    to += text;
  }
  void begin(std::string_view key, std::uint32_t type) {
    put_text(entries_, key);
    put(entries_, choices_.fault() ? static_cast<std::uint32_t>(choices_.below(16)) : type);
    ++entry_count_;
  }
  void put_number(std::uint32_t type) {
    if (type == 6) return put(entries_, static_cast<float>(choices_.real()));
    if (type == 12) return put(entries_, choices_.real());
    if (type == 7) return put(entries_, static_cast<std::uint8_t>(choices_.fault() ? 2 : choices_.below(2)));
    const std::int64_t number = choices_.integer();
    if (type <= 1) return put(entries_, static_cast<std::int8_t>(number));
    if (type <= 3) return put(entries_, static_cast<std::int16_t>(number));
    if (type <= 5) return put(entries_, static_cast<std::int32_t>(number));
    put(entries_, number);
  }

  Choices& choices_;
  std::string entries_, tensors_, data_;
  std::size_t entry_count_ = 0, tensor_count_ = 0;
};

}  // namespace locus::fuzz
