// SPDX-License-Identifier: Apache-2.0
#include "locus/names.h"

#include <gtest/gtest.h>

#include "locus/error.h"

namespace locus {
namespace {

using Known = std::vector<std::string_view>;

TEST(NearestName, OneEditAway) {
  const Known known = {"nope", "rope", "xpos", "transformer_xl"};
  EXPECT_EQ(nearest_name("ropee", known), "rope");  // an extra letter
  EXPECT_EQ(nearest_name("rpe", known), "rope");    // a missing letter
  EXPECT_EQ(nearest_name("ripe", known), "rope");   // a replaced letter
  EXPECT_EQ(nearest_name("xpso", known), "xpos");   // two swapped letters
  EXPECT_EQ(nearest_name("RoPE", known), "rope");   // another case
  EXPECT_EQ(nearest_name("transformerxl", known), "transformer_xl");
}

TEST(NearestName, NoneIfNothingIsNear) {
  const Known known = {"nope", "rope", "xpos"};
  EXPECT_EQ(nearest_name("alibi", known), std::nullopt);
  EXPECT_EQ(nearest_name("", known), std::nullopt);
  EXPECT_EQ(nearest_name("r", known), std::nullopt);
  EXPECT_EQ(nearest_name("ro", {"a", "b"}), std::nullopt);  // every letter differs
  EXPECT_EQ(nearest_name("rope", {}), std::nullopt);
  EXPECT_EQ(nearest_name(std::string(5000, 'r'), known), std::nullopt);
}

TEST(NearestName, FirstOfEquallyNearNames) { EXPECT_EQ(nearest_name("dope", {"nope", "rope"}), "nope"); }

TEST(UnknownName, HasOneForm) {
  EXPECT_EQ(unknown_name("scheme", "ropee", {"nope", "rope"}),
            "unknown scheme 'ropee'; did you mean 'rope'? known: nope, rope");
  EXPECT_EQ(unknown_name("task", "walk", {"copy", "order"}), "unknown task 'walk'; known: copy, order");
  EXPECT_EQ(unknown_name("array", "q", {}), "unknown array 'q'; known: none");
}

TEST(FindNamed, FindsOrThrows) {
  const std::vector<std::string> entries = {"one", "two"};
  const auto name_of = [](const std::string& entry) { return std::string_view(entry); };
  EXPECT_EQ(&find_named("number", entries, "two", name_of), &entries[1]);
  try {
    find_named("number", entries, "tow", name_of);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "unknown number 'tow'; did you mean 'two'? known: one, two");
  }
}

TEST(Require, BuildsItsMessageOnlyOnFailure) {
  int made = 0;
  const auto text = [&] {
    ++made;
    return "text";
  };
  require(true, "a ", text);
  EXPECT_EQ(made, 0);
  try {
    require(false, "a ", text, " of ", 2);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "a text of 2");
  }
  EXPECT_EQ(made, 1);
}

}  // namespace
}  // namespace locus
