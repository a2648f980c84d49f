// SPDX-License-Identifier: Apache-2.0
// Every frequency rule against values worked by hand, and what it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "locus/error.h"
#include "scaling/applied_rule.h"

namespace locus {
namespace {

using testing::apply;

// A double nearest to a number that was worked out to more digits than it holds.
void expect_nearly(double got, double want) { EXPECT_NEAR(got, want, 4 * std::fabs(want) * 0x1p-53); }

TEST(RulesByHand, LinearWithFactor4MapsPosition8191To2047Point75) {
  const RuleContext context{.rotary_dim = 128, .base = 10000};
  const auto linear = apply("linear", context, {{"factor", 4}}).inv_freq;
  const auto none = apply("none", context, {}).inv_freq;
  EXPECT_EQ((DoubleDouble(8191.0) * linear[0]).hi, 2047.75);
  for (std::size_t i = 0; i < none.size(); ++i) {
    EXPECT_TRUE(DoubleDouble(8191.0) * linear[i] == DoubleDouble(2047.75) * none[i]) << i;
  }
}

// d = 4, base = 100: w = 1, 1/10. a = 4: base 100 * 4^(4/2) = 1600, so 1/40: the slowest is divided by a.
TEST(RulesByHand, NtkStretchesTheSlowestByItsFactor) {
  const auto w = apply("ntk", {.rotary_dim = 4, .base = 100}, {{"factor", 4}}).inv_freq;
  expect_nearly(w[0].hi, 1);
  expect_nearly(w[1].hi, 1.0 / 40);
}

// vLLM: (100 * 4)^(-2i/4) / 4^(2/4): 1/2 and 1/20 / 2.
TEST(RulesByHand, NtkOfVllmDividesAllByARoot) {
  const auto w = apply("ntk", {.rotary_dim = 4, .base = 100, .profile = Profile::vllm}, {{"factor", 4}}).inv_freq;
  expect_nearly(w[0].hi, 0.5);
  expect_nearly(w[1].hi, 1.0 / 40);
  const auto wider = apply("ntk", {.rotary_dim = 8, .base = 2500, .profile = Profile::vllm}, {{"factor", 4}}).inv_freq;
  expect_nearly(wider[0].hi, 1 / std::sqrt(2.0));          // 4^(-1/4)
  expect_nearly(wider[1].hi, 1 / std::sqrt(200.0));        // 10^-1 * 2^-1/2
  expect_nearly(wider[2].hi, 1 / (100 * std::sqrt(2.0)));  // 10^-2 * 2^-1/2
}

// f = 2, L = 4 L_max: 2 * 4 - 1 = 7, base 100 * 7^2 = 4900. vLLM freezes L at f L_max: 2 * 2 - 1 = 3, base 900.
// b = 1 is the base times the factor, and a root of the factor on all: w = (100 * 4)^(-i/2) / 4^(2/4).
TEST(RulesByHand, NtkMixedWithOneIsTheFixedForm) {
  const auto w = apply("ntk_mixed", {.rotary_dim = 4, .base = 100}, {{"factor", 4}}).inv_freq;
  EXPECT_NEAR(w[0].hi, 0.5, 1e-15);
  EXPECT_NEAR(w[1].hi, 0.025, 1e-15);
}

// Four frequencies from pi/2 to 1000 pi/2, each ten times the last.
TEST(RulesByHand, GeometricHasBothEnds) {
  const auto w = apply("geometric", {.rotary_dim = 8, .base = 1000}, {}).inv_freq;
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(w[j].hi / (1.5707963267948966 * std::pow(10.0, j)), 1, 1e-14);
  EXPECT_NEAR(apply("geometric", {.rotary_dim = 2, .base = 1000}, {{"lowest", 1}}).inv_freq[0].hi, 3.14159265358979,
              1e-14);
}

// TeleChat 3's magnitude: 0.07 ln 4 + 1.
TEST(RulesByHand, YarnWithAnotherSlope) {
  const Arguments telechat{{"factor", 4}, {"original_length", 4096}, {"magnitude_slope", 0.07}};
  EXPECT_NEAR(apply("yarn", {.rotary_dim = 64, .base = 10000}, telechat).attention_factor, 1.0970406052783923, 1e-15);
}

TEST(RulesByHand, DynamicNtkGrowsWithTheLengthAndVllmFreezesIt) {
  const RuleContext context{.rotary_dim = 4, .base = 100};
  const RuleContext frozen{.rotary_dim = 4, .base = 100, .profile = Profile::vllm};
  Arguments arguments{{"factor", 2}, {"max_length", 2048}};
  expect_nearly(apply("dynamic_ntk", context, arguments).inv_freq[1].hi, 1.0 / 10);
  expect_nearly(apply("dynamic_ntk", frozen, arguments).inv_freq[1].hi, 1.0 / 30);
  arguments.set("length", std::int64_t{100});
  expect_nearly(apply("dynamic_ntk", context, arguments).inv_freq[1].hi, 1.0 / 10);
  arguments.set("length", std::int64_t{8192});
  expect_nearly(apply("dynamic_ntk", context, arguments).inv_freq[1].hi, 1.0 / 70);
  expect_nearly(apply("dynamic_ntk", frozen, arguments).inv_freq[1].hi, 1.0 / 30);
}

// m(s, k) = 1 + 0.1 k ln s; ln 4 = 1.38629436111989062, ln 8 = 2.07944154167983593, ln 40 = 3.68887945411393630.
TEST(RulesByHand, YarnFactors) {
  const RuleContext context{.rotary_dim = 64, .base = 10000};
  const auto factors = [&](Arguments arguments) {
    arguments.set("original_length", std::int64_t{4096});
    const auto result = apply("yarn", context, arguments);
    return std::pair(result.attention_factor, result.softmax_scale_factor);
  };
  const auto expect_factors = [&](const Arguments& arguments, double attention, double softmax) {
    const auto [got_attention, got_softmax] = factors(arguments);
    expect_nearly(got_attention, attention);
    expect_nearly(got_softmax, softmax);
  };
  const double m40 = 1.36888794541139363;
  expect_factors({{"factor", 1}}, 1, 1);
  expect_factors({{"factor", 4}}, 1.138629436111989062, 1);
  expect_factors({{"max_length", 32768}}, 1.207944154167983593, 1);  // absent factor: 32768 / 4096 = 8
  expect_factors({{"factor", 4}, {"attention_factor", 1.5}}, 1.5, 1);
  expect_factors({{"factor", 40}, {"mscale", 1}, {"mscale_all_dim", 1}}, 1, m40 * m40);  // DeepSeek-V3
  expect_factors({{"factor", 40}, {"mscale", 1}, {"mscale_all_dim", 0.5}}, m40 / 1.184443972705696815,
                 1.184443972705696815 * 1.184443972705696815);
  expect_factors({{"factor", 40}, {"mscale", 0.5}}, m40, 1);  // one alone is not enough
  expect_factors({{"factor", 40}, {"mscale_all_dim", 1}}, m40, m40 * m40);
  expect_factors({{"factor", 40}, {"mscale", 1}, {"mscale_all_dim", 0}}, m40, 1);  // zero counts as absent
  expect_factors({{"factor", 40}, {"mscale", 1}, {"mscale_all_dim", 1}, {"attention_factor", 0.5}}, 0.5, m40 * m40);
}

// f = 131072 / 4096 = 2^5 and L = 2^12: sqrt(1 + 5/12).
TEST(RulesByHand, LongRopeFactors) {
  const RuleContext context{.rotary_dim = 4, .base = 10000};
  const std::vector<double> ones{1, 1};
  const Arguments lists{{"short_factor", ones}, {"long_factor", ones}, {"original_length", 4096}};
  const auto attention = [&](const Arguments& more) {
    Arguments arguments = lists;
    for (const auto& [name, value] : more.all()) arguments.set(name, value);
    return apply("longrope", context, arguments).attention_factor;
  };
  const double root = std::sqrt(17.0 / 12);
  expect_nearly(attention({{"max_length", 131072}}), root);
  expect_nearly(attention({{"max_length", 131072}, {"length", 100000}}), root);  // the same under both lists
  expect_nearly(attention({{"factor", 32}}), root);
  expect_nearly(attention({{"factor", 4}, {"max_length", 131072}}), std::sqrt(1 + 2.0 / 12));
  EXPECT_EQ(attention({{"factor", 1}}), 1);
  EXPECT_EQ(attention({{"factor", 0.5}}), 1);
  EXPECT_EQ(attention({{"max_length", 2048}}), 1);
  EXPECT_EQ(attention({{"factor", 32}, {"attention_factor", 1.25}}), 1.25);
  const Arguments both{{"factor", 32}, {"short_mscale", 1.1}, {"long_mscale", 1.2}};
  EXPECT_EQ(attention(both), 1.1);
  Arguments beyond = both;
  beyond.set("length", std::int64_t{4097});
  EXPECT_EQ(attention(beyond), 1.2);
}

// base = 10^12, d = 4: wavelengths 2 pi and 2 pi 10^6; L = 8192 keeps the first and divides the second by 8.
TEST(RulesByHand, Llama3KeepsShortAndDividesLong) {
  const auto w = apply("llama3", {.rotary_dim = 4, .base = 1e12}, {{"factor", 8}, {"original_length", 8192}}).inv_freq;
  EXPECT_EQ(w[0].hi, 1);
  expect_nearly(w[1].hi, 1e-6 / 8);
}

TEST(RulesByHand, Llama3WithEqualFactorsIsAStep) {
  const RuleContext context{.rotary_dim = 128, .base = 500000};
  const auto w = apply("llama3", context,
                       {{"factor", 8}, {"low_freq_factor", 4}, {"high_freq_factor", 4}, {"original_length", 8192}})
                     .inv_freq;
  const auto none = apply("none", context, {}).inv_freq;
  std::set<double> ratios;
  for (std::size_t i = 0; i < w.size(); ++i) {
    ASSERT_TRUE(std::isfinite(w[i].hi));
    ratios.insert(std::round(none[i].hi / w[i].hi * 1e12) / 1e12);
  }
  EXPECT_EQ(ratios, (std::set<double>{1, 8}));
}

TEST(RulesByHand, ProportionalStopsTheSlowPairs) {
  const auto w = apply("proportional", {.rotary_dim = 8, .base = 16}, {{"rotary_fraction", 0.5}, {"factor", 2}});
  expect_nearly(w.inv_freq[0].hi, 1.0 / 2);
  expect_nearly(w.inv_freq[1].hi, 1.0 / 4);  // 16^(-1/4) / 2
  EXPECT_TRUE(w.inv_freq[2] == DoubleDouble(0));
  EXPECT_TRUE(w.inv_freq[3] == DoubleDouble(0));
}

TEST(RulesByHand, OnlyTwoRulesDependOnTheLength) {
  std::set<std::string_view> dependent;
  for (const Rule* rule : rules()) {
    if (rule->length_dependent) dependent.insert(rule->name);
  }
  EXPECT_EQ(dependent, (std::set<std::string_view>{"dynamic_ntk", "longrope"}));
}

// ---- refusals: the message names the thing and the rule

struct Refusal {
  std::string rule;
  Arguments arguments;
  std::string message;  // a part of it
  RuleContext context = {.rotary_dim = 4, .base = 10000};
};

TEST(RulesRefuse, EachWithTheThingAndTheRule) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> two{1, 1};
  const Arguments longrope{{"short_factor", two}, {"long_factor", two}, {"original_length", 4096}, {"factor", 2}};
  const auto longrope_with = [&](const std::string& name, const Value& value) {
    Arguments changed = longrope;
    changed.set(name, value);
    return changed;
  };
  const std::int64_t beyond = (std::int64_t{1} << 31) + 1;
  const std::vector<Refusal> refusals = {
      {"none", {{"factor", 2}}, "unknown rope parameter 'factor'"},
      {"linear", {}, "rope.factor must be given"},
      {"linear", {{"factor", 0.5}}, "rope.factor must be at least 1, got 0.5"},
      {"linear", {{"factor", nan}}, "rope.factor must be finite, got nan"},
      {"linear", {{"factor", infinity}}, "rope.factor must be finite, got inf"},
      {"linear", {{"factor", "four"}}, "rope.factor must be a number, got four"},
      {"ntk", {}, "rope.factor must be given"},
      {"ntk", {{"factor", 0}}, "rope.factor must be at least 1, got 0"},
      {"ntk", {{"factor", 4}}, "ntk needs rotary_dim above 2, got 2", {.rotary_dim = 2, .base = 10000}},
      {"ntk_mixed", {{"mixed_b", 0.75}}, "rope.factor must be given"},
      {"ntk_mixed", {{"factor", 2}, {"mixed_b", 0}}, "rope.mixed_b must be above 0 and at most 16, got 0"},
      {"geometric", {{"lowest", 0}}, "rope.lowest must be above 0, got 0"},
      {"dynamic_ntk", {{"max_length", 2048}}, "rope.factor must be given"},
      {"dynamic_ntk", {{"factor", 2}}, "rope.max_length must be given"},
      {"dynamic_ntk", {{"factor", 0.9}, {"max_length", 2048}}, "rope.factor must be at least 1, got 0.9"},
      {"dynamic_ntk", {{"factor", 2}, {"max_length", 0}}, "rope.max_length must be at least 1"},
      {"dynamic_ntk", {{"factor", 2}, {"max_length", beyond}}, "at most 2147483648, got 2147483649"},
      {"dynamic_ntk", {{"factor", 2}, {"max_length", 2048}, {"length", 0}}, "rope.length must be at least 1"},
      {"dynamic_ntk", {{"factor", 2}, {"max_length", 2048}, {"length", 1.5}}, "rope.length must be an integer"},
      {"dynamic_ntk",
       {{"factor", 2}, {"max_length", 2048}},
       "dynamic_ntk needs rotary_dim above 2, got 2",
       {.rotary_dim = 2, .base = 10000}},
      {"ntk_by_parts", {{"original_length", 2048}}, "rope.factor must be given"},
      {"ntk_by_parts", {{"factor", 4}}, "rope.original_length must be given"},
      {"ntk_by_parts", {{"factor", 0.5}, {"original_length", 2048}}, "rope.factor must be at least 1, got 0.5"},
      {"ntk_by_parts", {{"factor", 4}, {"original_length", 0}}, "rope.original_length must be at least 1"},
      {"ntk_by_parts",
       {{"factor", 4}, {"original_length", 2048}},
       "ntk_by_parts needs rotary_dim above 2, got 2",
       {.rotary_dim = 2, .base = 10000}},
      {"ntk_by_parts",
       {{"factor", 4}, {"original_length", 2048}},
       "ntk_by_parts needs a base above 1, got 1",
       {.rotary_dim = 4, .base = 1}},
      {"yarn", {{"factor", 4}}, "yarn needs original_length"},
      {"yarn", {{"original_length", 4096}}, "yarn needs factor, or both max_length and original_length"},
      {"yarn", {{"max_length", 4096}}, "yarn needs factor, or both max_length and original_length"},
      {"yarn", {{"factor", 0}, {"original_length", 4096}}, "rope.factor must be above 0, got 0"},
      {"yarn", {{"factor", 4}, {"original_length", 4096}, {"ext_factor", 1.5}}, "rope.ext_factor must be"},
      {"yarn", {{"factor", 4}, {"original_length", 4096}, {"ext_factor", -0.5}}, "rope.ext_factor must be"},
      {"ntk_by_parts", {{"factor", 4}, {"original_length", 4096}, {"ntk_factor", 2}}, "rope.ntk_factor must be"},
      {"yarn", {{"factor", 4}, {"original_length", 0}}, "rope.original_length must be at least 1"},
      {"yarn", {{"factor", 4}, {"original_length", 4096}, {"beta_fast", 0}}, "rope.beta_fast must be above 0, got 0"},
      {"yarn", {{"factor", 4}, {"original_length", 4096}, {"beta_slow", -1}}, "rope.beta_slow must be above 0"},
      {"yarn", {{"factor", 4}, {"original_length", 4096}, {"truncate", 1}}, "rope.truncate must be true or false"},
      {"yarn", {{"factor", 4}, {"original_length", 4096}, {"mscale", -1}}, "rope.mscale must be at least 0, got -1"},
      {"yarn", {{"factor", 4}, {"original_length", 4096}, {"mscale_all_dim", nan}}, "rope.mscale_all_dim must be fin"},
      {"yarn", {{"factor", 4}, {"original_length", 4096}, {"attention_factor", 0}}, "rope.attention_factor must be ab"},
      {"yarn",
       {{"factor", 4}, {"original_length", 4096}},
       "yarn needs a base above 1, got 1",
       {.rotary_dim = 4, .base = 1}},
      {"longrope", {{"long_factor", two}, {"original_length", 4096}}, "rope.short_factor must be given"},
      {"longrope", {{"short_factor", two}, {"original_length", 4096}}, "rope.long_factor must be given"},
      {"longrope", {{"short_factor", two}, {"long_factor", two}}, "rope.original_length must be given"},
      {"longrope", longrope_with("short_factor", std::vector<double>{1}), "rope.short_factor must have one entry per"},
      {"longrope", longrope_with("long_factor", std::vector<double>{1, 1, 1}), "per pair (2), got 3"},
      {"longrope", longrope_with("long_factor", std::vector<double>{1, 0}), "rope.long_factor must be above 0, got 0"},
      {"longrope", longrope_with("short_factor", std::vector<double>{1, nan}), "rope.short_factor must be finite"},
      {"longrope", longrope_with("original_length", 1), "rope.original_length must be at least 2"},
      {"longrope", longrope_with("factor", 0), "rope.factor must be above 0, got 0"},
      {"longrope", longrope_with("attention_factor", -1), "rope.attention_factor must be above 0, got -1"},
      {"longrope", longrope_with("short_mscale", 0), "rope.short_mscale must be above 0"},
      {"longrope", longrope_with("long_mscale", 0), "rope.long_mscale must be above 0"},
      {"longrope", longrope_with("length", 0), "rope.length must be at least 1"},
      {"longrope",
       {{"short_factor", two}, {"long_factor", two}, {"original_length", 4096}},
       "longrope needs factor, attention_factor or max_length"},
      {"llama3", {{"factor", 8}}, "rope.original_length must be given"},
      {"llama3", {{"original_length", 8192}}, "rope.factor must be given"},
      {"llama3", {{"factor", 0.5}, {"original_length", 8192}}, "rope.factor must be at least 1, got 0.5"},
      {"llama3",
       {{"factor", 8}, {"original_length", 8192}, {"low_freq_factor", 4}, {"high_freq_factor", 1}},
       "rope.high_freq_factor must be at least low_freq_factor (4), got 1"},
      {"llama3", {{"factor", 8}, {"original_length", 8192}, {"low_freq_factor", 0}}, "rope.low_freq_factor must be ab"},
      {"llama3", {{"factor", 8}, {"original_length", 8192}, {"high_freq_factor", -4}}, "rope.high_freq_factor must be"},
      {"proportional", {}, "rope.rotary_fraction must be given"},
      {"proportional", {{"rotary_fraction", 0}}, "rope.rotary_fraction must be above 0 and at most 1, got 0"},
      {"proportional", {{"rotary_fraction", 1.5}}, "rope.rotary_fraction must be above 0 and at most 1, got 1.5"},
      {"proportional", {{"rotary_fraction", 1}, {"factor", 0.5}}, "rope.factor must be at least 1, got 0.5"},
  };
  std::set<std::string> refusing;
  for (const Refusal& refusal : refusals) {
    refusing.insert(refusal.rule);
    try {
      apply(refusal.rule, refusal.context, refusal.arguments);
      ADD_FAILURE() << refusal.rule << " accepted what should give: " << refusal.message;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(refusal.message), std::string::npos)
          << "got: " << error.what() << "\nnot: " << refusal.message;
    }
  }
  for (const Rule* rule : rules()) EXPECT_TRUE(refusing.contains(std::string(rule->name))) << rule->name;
}

TEST(RulesRefuse, AnUnknownRuleNamesTheKnownOnes) {
  try {
    find_rule("yarm");
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("yarm"), std::string::npos);
    for (const Rule* rule : rules()) EXPECT_NE(message.find(rule->name), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace locus
