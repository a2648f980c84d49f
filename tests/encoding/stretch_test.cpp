// SPDX-License-Identifier: Apache-2.0
#include "locus/stretch.h"

#include <gtest/gtest.h>

#include "locus/error.h"
#include "locus/scaling.h"
#include "support/error_of.h"

namespace locus {
namespace {

Encoding plain() {
  return Encoding("rope", {{"head_dim", 24},
                           {"pairing", "interleaved"},
                           {"rotary_dim", 16},
                           {"rotary_offset", 4},
                           {"base", 5e5},
                           {"max_length", 64},
                           {"profile", "hf"}});
}

TEST(UnderRule, KeepsTheOtherArguments) {
  const Encoding encoding = with_rule(plain(), "linear", {.trained = 64, .longest = 256});
  const Arguments& arguments = encoding.arguments();
  EXPECT_EQ(arguments.integer("head_dim"), 24);
  EXPECT_EQ(arguments.text("pairing"), "interleaved");
  EXPECT_EQ(arguments.integer("rotary_dim"), 16);
  EXPECT_EQ(arguments.integer("rotary_offset"), 4);
  EXPECT_EQ(arguments.real("base"), 5e5);
  EXPECT_EQ(arguments.text("profile"), "hf");
  EXPECT_EQ(arguments.text("rule"), "linear");
  EXPECT_EQ(arguments.real("factor"), 4);
}

TEST(UnderRule, FillsInTheRulesParameterForTheTrainedLength) {
  EXPECT_EQ(with_rule(plain(), "yarn", {.trained = 64, .longest = 256}).arguments().integer("original_length"), 64);
  EXPECT_EQ(with_rule(plain(), "dynamic_ntk", {.trained = 32, .longest = 256}).arguments().integer("max_length"), 32);
  for (const Rule* rule : rules()) {
    if (!needs_factor_only(*rule)) continue;
    const Encoding encoding = with_rule(plain(), rule->name, {.trained = 64, .longest = 128});
    EXPECT_EQ(encoding.arguments().real("factor"), 2) << rule->name;
    if (!rule->trained_length.empty()) {
      EXPECT_EQ(encoding.arguments().integer(rule->trained_length), 64) << rule->name;
    }
  }
}

TEST(UnderRule, NeverCompresses) {
  EXPECT_EQ(with_rule(plain(), "linear", {.trained = 64, .longest = 32}).arguments().real("factor"), 1);
}

TEST(UnderRule, GivenArgumentsWin) {
  const Arguments given{{"factor", 3.0}, {"original_length", 100}, {"truncate", false}};
  const Encoding encoding = with_rule(plain(), "yarn", {.trained = 64, .longest = 256}, given);
  const Arguments& arguments = encoding.arguments();
  EXPECT_EQ(arguments.real("factor"), 3);
  EXPECT_EQ(arguments.integer("original_length"), 100);
  EXPECT_FALSE(arguments.boolean("truncate"));
}

TEST(UnderRule, KeepsParametersOfTheSameRuleOnly) {
  const Encoding own = with_rule(plain(), "yarn", {.trained = 64, .longest = 256}, {{"beta_fast", 16.0}});
  EXPECT_EQ(with_rule(own, "yarn", {.trained = 1, .longest = 9}).arguments().real("beta_fast"), 16);
  EXPECT_EQ(with_rule(own, "yarn", {.trained = 1, .longest = 9}).arguments().integer("original_length"), 64);
  EXPECT_FALSE(with_rule(own, "linear", {.trained = 64, .longest = 128}).arguments().has("beta_fast"));
  EXPECT_EQ(with_rule(own, "none", {}).rotation().inv_freq, plain().rotation().inv_freq);
}

TEST(UnderRule, FollowsTheLengthIfTheRuleDoes) {
  const Encoding dynamic = with_rule(plain(), "dynamic_ntk", {.trained = 64, .longest = 256});
  EXPECT_TRUE(dynamic.length_dependent());
  EXPECT_EQ(dynamic.rotation().inv_freq, dynamic.at_length(64).rotation().inv_freq);
  EXPECT_NE(dynamic.rotation().inv_freq, dynamic.at_length(256).rotation().inv_freq);
}

TEST(UnderRule, Refuses) {
  const auto refusal = [](const Encoding& encoding, const char* rule, const Stretch& stretch) -> std::string {
    return testing::error_of([&] { with_rule(encoding, rule, stretch); });
  };
  EXPECT_EQ(refusal(Encoding("alibi", {{"heads", 8}}), "yarn", {.trained = 64, .longest = 128}),
            "the rule yarn needs a scheme that rotates (rope), got alibi");
  EXPECT_EQ(refusal(plain(), "yern", {}).find("unknown rule 'yern'; did you mean 'yarn'?"), 0u);
  EXPECT_EQ(refusal(plain(), "linear", {.trained = 64}).find("rope.factor must be given"), 0u);
  EXPECT_EQ(refusal(plain(), "longrope", {.trained = 64, .longest = 128}).find("rope.short_factor must be given"), 0u);
}

TEST(LearnedWeights, AreParametersOfTheirScheme) {
  for (const Scheme* scheme : schemes()) {
    SCOPED_TRACE(scheme->name);
    const Encoding encoding(scheme->name, scheme->example);
    EXPECT_EQ(encoding.learned_weights().empty(), !encoding.claims().has(Claim::learned));
    for (const LearnedWeight& weight : encoding.learned_weights()) {
      const Parameter& parameter = find_parameter(scheme->name, scheme->parameters, weight.name);
      std::int64_t count = 1;
      for (const std::int64_t extent : weight.shape) count *= extent;
      Arguments arguments = scheme->example;  // the shape must be that of the parameter
      if (parameter.kind == ValueKind::tensor) {
        arguments.set(weight.name, Tensor{weight.shape, std::vector<float>(static_cast<std::size_t>(count), 0.5f)});
      } else {
        arguments.set(weight.name, std::vector<double>(static_cast<std::size_t>(count), 0.5));
      }
      EXPECT_NO_THROW(Encoding(scheme->name, arguments)) << weight.name;
      EXPECT_GE(weight.deviation, 0) << weight.name;
    }
  }
}

}  // namespace
}  // namespace locus
