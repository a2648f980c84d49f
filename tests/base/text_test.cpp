// SPDX-License-Identifier: Apache-2.0
#include "locus/text.h"

#include <gtest/gtest.h>

#include <vector>

namespace locus {
namespace {

TEST(Text, Concatenates) { EXPECT_EQ(concat("a ", 12, " ", 0.125), "a 12 0.125"); }

TEST(Text, JoinsTextsAndNumbers) {
  EXPECT_EQ(joined(std::vector<std::string>{"a", "b", "c"}), "a, b, c");
  EXPECT_EQ(joined(std::vector<std::int64_t>{2, 3}, "x"), "2x3");
  EXPECT_EQ(joined(std::vector<double>{0.5, 1048576}, ","), "0.5,1048576");
  EXPECT_EQ(joined(std::vector<int>{}), "");
  EXPECT_EQ(joined(std::vector<int>{1, -1}, " ", [](int i) { return i < 0 ? "any" : "one"; }), "one any");
}

TEST(Text, ListsWithAWordBeforeTheLastItem) {
  EXPECT_EQ(listed(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(listed(std::vector<std::string>{"a", "b"}), "a and b");
  EXPECT_EQ(listed(std::vector<std::string_view>{"a", "b", "c"}, " or "), "a, b or c");
}

TEST(Text, Numbers) {
  EXPECT_EQ(significant(0.012345), "0.0123");
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(fixed(1.005, 1), "1.0");
  EXPECT_EQ(grouped(-1234567), "-1,234,567");
  EXPECT_EQ(grouped(999), "999");
}

}  // namespace
}  // namespace locus
