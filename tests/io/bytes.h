// SPDX-License-Identifier: Apache-2.0
// Builds files byte by byte, and checks the messages of their readers.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locus/error.h"
#include "support/error_of.h"

namespace locus::io {

using testing::error_of;

class Bytes {
 public:
  template <class T>
  Bytes& number(T value) {
    const auto raw = std::as_bytes(std::span(&value, 1));
    text_.append(reinterpret_cast<const char*>(raw.data()), raw.size());
    return *this;
  }
  Bytes& text(std::string_view text) {
    text_ += text;
    return *this;
  }
  Bytes& zeros(std::size_t count) {
    text_.append(count, '\0');
    return *this;
  }
  Bytes& pad_to(std::size_t alignment) { return zeros((alignment - text_.size() % alignment) % alignment); }
  const std::string& str() const { return text_; }
  std::size_t size() const { return text_.size(); }

 private:
  std::string text_;
};

/// A heap copy of exactly this size: a sanitizer detects the first read beyond it.
inline std::vector<std::byte> on_heap(std::string_view text) {
  const auto raw = std::as_bytes(std::span(text));
  return {raw.begin(), raw.end()};
}

/// A file that a reader must refuse, and a part of the message.
struct Refusal {
  std::string why;
  std::string file;
  std::string part;
};

/// `parse` takes bytes and a name; every message must start with the name and contain its part.
template <class Parse>
void expect_refusals(const std::vector<Refusal>& refusals, Parse parse) {
  for (const auto& [why, file, part] : refusals) {
    const auto bytes = on_heap(file);
    const std::string message = error_of([&] { parse(bytes, "some.file"); });
    EXPECT_TRUE(message.starts_with("some.file: ")) << why << ": " << message;
    EXPECT_NE(message.find(part), std::string::npos) << why << ": " << message;
  }
}

/// No prefix of a valid file may be accepted, and none may be read beyond its end.
template <class Parse>
void expect_every_truncation_refused(const std::string& file, Parse parse) {
  EXPECT_EQ(error_of([&] { parse(on_heap(file), "some.file"); }), "no error");
  for (std::size_t length = 0; length < file.size(); ++length) {
    const auto bytes = on_heap(std::string_view(file).substr(0, length));
    const std::string message = error_of([&] { parse(bytes, "some.file"); });
    EXPECT_TRUE(message.starts_with("some.file: ")) << length << " bytes: " << message;
  }
}

/// Replaces every single byte by several others: the reader must parse or throw. Returns how many files were refused.
template <class Parse>
std::size_t count_refused_damage(const std::string& file, Parse parse) {
  std::size_t refused = 0;
  for (std::size_t at = 0; at < file.size(); ++at) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto bytes = on_heap(damaged);
      if (error_of([&] { parse(bytes, "some.file"); }) != "no error") ++refused;
    }
  }
  return refused;
}

class InTemporaryFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::random_device random;
    folder_ = std::filesystem::temp_directory_path() /
              ("locus_io_test_" + std::to_string(random()) + std::to_string(random()));
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static std::string contents(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator{}));
  }

  std::filesystem::path folder_;
};

}  // namespace locus::io
