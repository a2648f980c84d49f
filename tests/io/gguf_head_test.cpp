// SPDX-License-Identifier: Apache-2.0
// A GGUF file of which only the first bytes are at hand.
#include "io/gguf_head.h"
#include "io/unread.h"

#include <gtest/gtest.h>

#include "io/gguf_bytes.h"
#include "locus/error.h"

namespace locus::io {
namespace {

/// One key, and two tensors of four float32 each: near (1, 2, 3, 4) and far, 32 bytes after it.
std::string two_tensors() {
  GgufBytes file(2, 1);
  file.key("general.name", 8).string("small");
  file.tensor("near", {4}, 0, 0).tensor("far", {4}, 0, 32).pad_to(32);
  for (const float value : {1.0f, 2.0f, 3.0f, 4.0f}) file.number(value);
  file.pad_to(32);
  for (const float value : {5.0f, 6.0f, 7.0f, 8.0f}) file.number(value);
  return file.str();
}

TEST(GgufHead, HasMetadataAndTheTensorsThatItHolds) {
  const std::string whole = two_tensors(), head = whole.substr(0, whole.size() - 4);
  const GgufFile file = parse_gguf_head(std::as_bytes(std::span(head)), 4, "f");
  EXPECT_EQ(file.text("general.name"), "small");
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.floats(file.tensors()[0]), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_TRUE(file.tensors()[1].bytes.empty());
  EXPECT_THROW(file.floats(file.tensors()[1]), Error);
}

TEST(GgufHead, RefusesTensorsBeyondTheWholeFile) {
  const std::string whole = two_tensors(), head = whole.substr(0, whole.size() - 4);
  EXPECT_THROW(parse_gguf_head(std::as_bytes(std::span(head)), 3, "f"), Error);
  EXPECT_THROW(parse_gguf(std::as_bytes(std::span(head)), "f"), Error);
}

TEST(GgufHead, MustReachTheEndOfTheDirectory) {
  const std::string head = two_tensors().substr(0, 60);
  EXPECT_THROW(parse_gguf_head(std::as_bytes(std::span(head)), 1000, "f"), Error);
}

TEST(GgufHead, IsTheWholeFileOutsideOfABrowser) { EXPECT_EQ(unread_bytes("anything.gguf"), 0u); }

}  // namespace
}  // namespace locus::io
