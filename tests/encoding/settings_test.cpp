// SPDX-License-Identifier: Apache-2.0
#include "locus/settings.h"

#include <gtest/gtest.h>

#include "locus/encoding.h"
#include "locus/error.h"

namespace locus {
namespace {

Tensor no_tensor(const Setting& setting) { fail("no tensor was expected: ", setting.name); }

TEST(Settings, AreParsedByTheKindOfTheirParameter) {
  const std::vector<Setting> given = {{"head_dim", "64"}, {"pairing", "half"}, {"base", "5e5"}};
  const Arguments arguments = parse_settings(find_scheme("rope"), given, no_tensor);
  EXPECT_EQ(arguments.integer("head_dim"), 64);
  EXPECT_EQ(arguments.text("pairing"), "half");
  EXPECT_EQ(arguments.real("base"), 5e5);
  EXPECT_FALSE(arguments.has("rule"));  // the encoding adds defaults
}

TEST(Settings, OfARuleMayComeBeforeIt) {
  const std::vector<Setting> given = {{"factor", "4"}, {"rule", "linear"}, {"head_dim", "8"}, {"pairing", "half"}};
  const Arguments arguments = parse_settings(find_scheme("rope"), given, no_tensor);
  EXPECT_EQ(arguments.real("factor"), 4);
  EXPECT_THROW(parse_settings(find_scheme("rope"), std::span(given).first(1), no_tensor), Error);
}

TEST(Settings, TensorsComeFromTheCaller) {
  std::string asked;
  const auto table = [&](const Setting& setting) {
    asked = setting.name + " " + setting.text;
    return Tensor{.shape = {2, 1}, .data = {1, 2}};
  };
  const std::vector<Setting> given = {{"table", "here.npy"}};
  EXPECT_EQ(parse_settings(find_scheme("learned"), given, table).tensor("table").data, (std::vector<float>{1, 2}));
  EXPECT_EQ(asked, "table here.npy");
}

TEST(Settings, NamesGivenTwiceAndUnknownOnesAreRefused) {
  for (const std::vector<Setting>& bad :
       {std::vector<Setting>{{"heads", "8"}, {"heads", "8"}}, std::vector<Setting>{{"rule", "none"}, {"rule", "none"}},
        std::vector<Setting>{{"head", "8"}}, std::vector<Setting>{{"heads", "x"}}}) {
    EXPECT_THROW(parse_settings(find_scheme("alibi"), bad, no_tensor), Error) << bad.front().name;
  }
}

}  // namespace
}  // namespace locus
