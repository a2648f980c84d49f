// SPDX-License-Identifier: Apache-2.0
// A safetensors file of which only the first bytes are at hand.
#include "io/safetensors_head.h"

#include <gtest/gtest.h>

#include "locus/error.h"

namespace locus::io {
namespace {

/// Two tensors of one float32 each, near and far, whose bytes are zero.
std::string head_of_two(std::size_t data) {
  const std::string header = R"({"near": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},)"
                             R"( "far": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]}})";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  return length + header + std::string(data, '\0');
}

TEST(SafetensorsHead, HasTheTensorsThatItHolds) {
  const std::string head = head_of_two(6);
  const SafetensorsFile file = parse_safetensors_head(std::as_bytes(std::span(head)), 2, "f");
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.floats(file.tensors()[0]), (std::vector<float>{0}));
  EXPECT_EQ(file.tensors()[1].name, "far");
  EXPECT_TRUE(file.tensors()[1].bytes.empty());
  EXPECT_THROW(file.floats(file.tensors()[1]), Error);
}

TEST(SafetensorsHead, KnowsTheSizeOfTheWholeFile) {
  const std::string head = head_of_two(6);
  const auto bytes = std::as_bytes(std::span(head));
  EXPECT_THROW(parse_safetensors_head(bytes, 1, "f"), Error);
  EXPECT_THROW(parse_safetensors_head(bytes, 3, "f"), Error);
  EXPECT_THROW(parse_safetensors(bytes, "f"), Error);
  EXPECT_THROW(parse_safetensors_head(bytes.first(40), 1000, "f"), Error);
}

}  // namespace
}  // namespace locus::io
