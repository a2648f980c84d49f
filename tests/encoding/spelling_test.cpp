// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/scaling.h"
#include "locus/settings.h"
#include "support/error_of.h"

namespace locus {
namespace {

std::string spelling_error(const std::string& text) {
  return testing::error_of([&] { (void)arguments_of(parse_spelling(text)); });
}

TEST(Spelling, SplitsSchemeAndSettings) {
  const Spelling spelling = parse_spelling("rope:rule=yarn,factor=2,truncate=false");
  EXPECT_EQ(spelling.scheme, "rope");
  EXPECT_TRUE(spelling.config.empty());
  ASSERT_EQ(spelling.settings.size(), 3u);
  EXPECT_EQ(spelling.setting("rule"), "yarn");
  EXPECT_EQ(spelling.setting("truncate"), "false");
  EXPECT_EQ(spelling.setting("base"), "");
  const Arguments arguments = arguments_of(spelling);
  EXPECT_EQ(arguments.text("rule"), "yarn");
  EXPECT_EQ(arguments.real("factor"), 2);
  EXPECT_FALSE(arguments.boolean("truncate"));
}

TEST(Spelling, ABareRuleIsRopeWithThatRule) {
  for (const char* text : {"yarn:2", "yarn:factor=2", "rope:rule=yarn,factor=2", "rope:factor=2,rule=yarn"}) {
    const Arguments arguments = arguments_of(parse_spelling(text));
    EXPECT_EQ(arguments.text("rule"), "yarn") << text;
    EXPECT_EQ(arguments.real("factor"), 2) << text;
    EXPECT_EQ(arguments.all().size(), 2u) << text;
  }
  EXPECT_FALSE(arguments_of(parse_spelling("yarn:2,truncate=false")).boolean("truncate"));
}

TEST(Spelling, EveryNameOfTheRegistryIsASpelling) {
  for (const Scheme* scheme : schemes()) EXPECT_EQ(parse_spelling(scheme->name).scheme, scheme->name);
  for (const Rule* rule : rules()) EXPECT_EQ(parse_spelling(rule->name).setting("rule"), rule->name);
}

TEST(Spelling, CommasInsideListsBelongToThem) {
  const Arguments arguments = arguments_of(parse_spelling("kerple:r1=1,2,3,4,form=power"));
  EXPECT_EQ(arguments.list("r1"), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(arguments.text("form"), "power");
}

TEST(Spelling, AtNamesAConfig) {
  const Spelling spelling = parse_spelling("@models/a,b/config.json");
  EXPECT_EQ(spelling.config, "models/a,b/config.json");
  EXPECT_TRUE(spelling.scheme.empty());
}

TEST(Spelling, RefusesWithAMessageThatNamesTheFault) {
  EXPECT_EQ(spelling_error("ropee").find("unknown scheme 'ropee'; did you mean 'rope'? known: "), 0u)
      << spelling_error("ropee");
  EXPECT_EQ(spelling_error("yran:2").find("unknown rule 'yran'; did you mean 'yarn'?"), 0u);
  EXPECT_EQ(spelling_error("rope:2"), "rope:2: a setting must be name=value, got '2'");
  EXPECT_EQ(spelling_error("rope:=2"), "rope:=2: a setting must be name=value, got '=2'");
  EXPECT_EQ(spelling_error("rope:base=1,base=2"), "rope:base=1,base=2: base is given twice");
  EXPECT_EQ(spelling_error("yarn:2,rule=ntk"), "yarn:2,rule=ntk: rule is given twice");
  EXPECT_EQ(spelling_error("rope:rule=yarn,factor=2,alibi"),
            "rope:rule=yarn,factor=2,alibi: factor must be one value, got 2,alibi; encodings with settings are "
            "separated by ;");
  EXPECT_NE(spelling_error("rope:bsae=3").find("did you mean 'base'?"), std::string::npos)
      << spelling_error("rope:bsae=3");
  EXPECT_NE(spelling_error("rope:base=much").find("much"), std::string::npos);
  EXPECT_NE(spelling_error(""), "no error");
  EXPECT_NE(spelling_error("@"), "no error");
  EXPECT_NE(spelling_error("rope:factor=4"), "no error");  // a parameter without its rule
}

TEST(Spelling, ListsAreSeparatedBySemicolonsAndBareNamesByCommas) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(split_spellings("none,linear:2,yarn:2"), (Texts{"none", "linear:2", "yarn:2"}));
  EXPECT_EQ(split_spellings("rope:rule=yarn,factor=2;alibi"), (Texts{"rope:rule=yarn,factor=2", "alibi"}));
  EXPECT_EQ(split_spellings("none,ntk:2;rope:rule=yarn,factor=2;@a,b.json"),
            (Texts{"none", "ntk:2", "rope:rule=yarn,factor=2", "@a,b.json"}));
  EXPECT_EQ(split_spellings("a,,b"), (Texts{"a", "", "b"}));
  EXPECT_EQ(split_spellings("@a,b.json;own"), (Texts{"@a,b.json", "own"}));
}

TEST(Spelling, AKnownNameAfterACommaBeginsAnotherEncoding) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(split_spellings("rope:base=500000,alibi"), (Texts{"rope:base=500000", "alibi"}));
  EXPECT_EQ(split_spellings("kerple:r1=1,2,3,4,form=power,yarn:2,t5:heads=8,num_buckets=16"),
            (Texts{"kerple:r1=1,2,3,4,form=power", "yarn:2", "t5:heads=8,num_buckets=16"}));
  EXPECT_EQ(split_spellings("none,@c.json"), (Texts{"none", "@c.json"}));
}

TEST(Settings, ParsesNamesAndValues) {
  const std::vector<std::string> texts = {"base=500000", "table=a=b.npy"};
  const std::vector<Setting> settings = parse_setting_list("--set", texts);
  ASSERT_EQ(settings.size(), 2u);
  EXPECT_EQ(settings[1].name, "table");
  EXPECT_EQ(settings[1].text, "a=b.npy");
  EXPECT_THROW(parse_setting("--set", "base"), Error);
  EXPECT_THROW(parse_setting("--set", "=3"), Error);
  const std::vector<std::string> twice = {"a=1", "a=2"};
  EXPECT_THROW(parse_setting_list("--set", twice), Error);
}

}  // namespace
}  // namespace locus
