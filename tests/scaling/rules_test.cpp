// SPDX-License-Identifier: Apache-2.0
// Compares every frequency rule with its definition in MPFR and with values worked out by hand; and refusals.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "locus/error.h"
#include "locus/scaling.h"
#include "support/mpfr_real.h"

namespace locus {
namespace {

using testing::MpfrReal;
using testing::relative_error;
using Reals = std::vector<MpfrReal>;

constexpr double eighty_bits = 0x1p-80;  // required for tables up to position 2^31 - 1

Frequencies<DoubleDouble> apply(std::string_view rule_name, const RuleContext& context, const Arguments& given) {
  const Rule& rule = find_rule(rule_name);
  return rule.exact(context, validate("rope", rule.parameters, given));
}

// ---- the definitions, over the reals

MpfrReal real(std::int64_t value) { return static_cast<double>(value); }

Reals plain(std::int64_t d, const MpfrReal& base) {
  Reals w;
  for (std::int64_t i = 0; i < d / 2; ++i) w.push_back(pow(base, real(-2 * i) / real(d)));
  return w;
}

Reals divided(Reals w, const MpfrReal& divisor) {
  for (MpfrReal& each : w) each = each / divisor;
  return w;
}

Reals ntk(std::int64_t d, const MpfrReal& base, const MpfrReal& a) {
  return plain(d, base * pow(a, real(d) / real(d - 2)));
}

Reals dynamic_ntk(std::int64_t d, double base, double f, std::int64_t trained, std::int64_t length) {
  const MpfrReal stretch = MpfrReal(f) * real(std::max(length, trained)) / real(trained) - (MpfrReal(f) - 1.0);
  return ntk(d, base, stretch);
}

struct YarnCase {
  MpfrReal factor;
  std::int64_t original;
  double beta_fast = 32;
  double beta_slow = 1;
  bool truncate = true;
  double ext_factor = 1;
};

// The ramp over the pairs from the one that turns `fast` times within the trained length to the one that turns `slow`
// times.
Reals ramp(std::int64_t d, double base, std::int64_t original, double fast, double slow, bool truncate = true) {
  const auto dim = [&](double r) {
    return real(d) * log(real(original) / (MpfrReal(2) * MpfrReal::pi() * MpfrReal(r))) /
           (MpfrReal(2) * log(MpfrReal(base)));
  };
  MpfrReal low = dim(fast);
  MpfrReal high = dim(slow);
  if (truncate) {
    low = floor(low);
    high = ceil(high);
  }
  if (low < 0.0) low = 0.0;
  if (high > real(d - 1)) high = real(d - 1);
  if (low == high) high = high + MpfrReal(1) / MpfrReal(1000);
  Reals shares;
  for (std::int64_t i = 0; i < d / 2; ++i) {
    const MpfrReal share = (real(i) - low) / (high - low);
    shares.push_back(share < 0.0 ? MpfrReal(0) : share > 1.0 ? MpfrReal(1) : share);
  }
  return shares;
}

// from (1 - share) + to share, pair by pair.
Reals blend(const Reals& from, const Reals& to, const Reals& shares) {
  Reals result;
  for (std::size_t i = 0; i < from.size(); ++i) {
    result.push_back(from[i] * (MpfrReal(1) - shares[i]) + to[i] * shares[i]);
  }
  return result;
}

// Keeps only `factor` of the complement of a share.
Reals keeping(double factor, Reals shares) {
  for (MpfrReal& share : shares) share = MpfrReal(1) - MpfrReal(factor) * (MpfrReal(1) - share);
  return shares;
}

Reals yarn(std::int64_t d, double base, const YarnCase& c) {
  const Reals w = plain(d, base);
  Reals shares = ramp(d, base, c.original, c.beta_fast, c.beta_slow, c.truncate);
  return blend(w, divided(w, c.factor), keeping(c.ext_factor, shares));
}

// jquesnelle/yarn: NTK-aware towards divided between 5/4 and 3/4 turns, then kept towards that between 16 and 2.
Reals ntk_by_parts(std::int64_t d, double base, double f, std::int64_t original, double ntk_factor = 1,
                   double ext_factor = 1) {
  const Reals w = plain(d, base);
  const Reals shares = keeping(ntk_factor, ramp(d, base, original, 1.25, 0.75));
  const Reals inner = blend(ntk(d, base, f), divided(w, f), shares);
  return blend(w, inner, keeping(ext_factor, ramp(d, base, original, 16, 2)));
}

Arguments yarn_arguments(const YarnCase& c) {
  return {{"factor", c.factor.to_double()}, {"original_length", c.original}, {"beta_fast", c.beta_fast},
          {"beta_slow", c.beta_slow},       {"truncate", c.truncate},        {"ext_factor", c.ext_factor}};
}

struct Llama3Case {
  double factor;
  double low;
  double high;
  std::int64_t original;
};

Reals llama3(std::int64_t d, double base, const Llama3Case& c) {
  Reals w = plain(d, base);
  for (MpfrReal& each : w) {
    const MpfrReal wavelength = MpfrReal(2) * MpfrReal::pi() / each;
    if (wavelength < real(c.original) / MpfrReal(c.high)) continue;
    if (wavelength > real(c.original) / MpfrReal(c.low)) {
      each = each / MpfrReal(c.factor);
    } else {
      const MpfrReal s = (real(c.original) / wavelength - MpfrReal(c.low)) / (MpfrReal(c.high) - MpfrReal(c.low));
      each = (MpfrReal(1) - s) * each / MpfrReal(c.factor) + s * each;
    }
  }
  return w;
}

Reals proportional(std::int64_t d, double base, std::size_t turning, double factor) {
  Reals w = divided(plain(d, base), factor);
  for (std::size_t i = turning; i < w.size(); ++i) w[i] = 0.0;
  return w;
}

// ---- the comparison

class RulesAgainstMpfr : public ::testing::Test {
 protected:
  void expect(std::string_view rule, const RuleContext& context, const Arguments& given, const Reals& want) {
    const auto got = apply(rule, context, given).inv_freq;
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double error = relative_error(MpfrReal(got[i]), want[i]);
      worst_ = std::max(worst_, error);
      EXPECT_LT(error, eighty_bits) << rule << " d " << context.rotary_dim << " base " << context.base << " pair " << i;
    }
  }
  void TearDown() override { std::cout << "worst relative error 2^" << std::log2(worst_) << "\n"; }

  static std::vector<RuleContext> contexts() {
    std::vector<RuleContext> all;
    for (const std::int64_t d : {4, 64, 96, 128}) {
      for (const double base : {1.5, 10000.0, 500000.0, 1e7, 123456.789, 1e12}) {
        all.push_back({.rotary_dim = d, .base = base});
      }
    }
    return all;
  }

 private:
  double worst_ = 0;
};

TEST_F(RulesAgainstMpfr, None) {
  for (const RuleContext& c : contexts()) expect("none", c, {}, plain(c.rotary_dim, c.base));
}

TEST_F(RulesAgainstMpfr, Linear) {
  for (const double f : {1.0, 4.0, 3.3}) {
    for (const RuleContext& c : contexts()) {
      expect("linear", c, {{"factor", f}}, divided(plain(c.rotary_dim, c.base), f));
    }
  }
}

TEST_F(RulesAgainstMpfr, Ntk) {
  for (const double a : {1.0, 4.0, 3.3}) {
    for (const RuleContext& c : contexts()) expect("ntk", c, {{"factor", a}}, ntk(c.rotary_dim, c.base, a));
  }
}

TEST_F(RulesAgainstMpfr, NtkOfVllm) {
  for (const double a : {1.0, 4.0, 3.3}) {
    for (RuleContext c : contexts()) {
      c.profile = Profile::vllm;
      const MpfrReal divisor = pow(MpfrReal(a), MpfrReal(2) / real(c.rotary_dim));
      expect("ntk", c, {{"factor", a}}, divided(plain(c.rotary_dim, MpfrReal(c.base) * MpfrReal(a)), divisor));
    }
  }
}

TEST_F(RulesAgainstMpfr, DynamicNtkAtSeveralLengths) {
  for (const double f : {1.0, 2.0, 3.3}) {
    for (const std::int64_t length : {1, 2048, 2049, 5000, 1 << 20}) {
      for (const RuleContext& c : contexts()) {
        expect("dynamic_ntk", c, {{"factor", f}, {"max_length", 2048}, {"length", length}},
               dynamic_ntk(c.rotary_dim, c.base, f, 2048, length));
      }
    }
  }
}

TEST_F(RulesAgainstMpfr, YarnWithAndWithoutTruncation) {
  for (const bool truncate : {true, false}) {
    for (const double f : {1.0, 4.0, 40.0, 3.3}) {
      for (const std::int64_t original : {64, 4096, 131072}) {
        const YarnCase yarn_case{.factor = f, .original = original, .truncate = truncate};
        for (const RuleContext& c : contexts()) {
          expect("yarn", c, yarn_arguments(yarn_case), yarn(c.rotary_dim, c.base, yarn_case));
        }
      }
    }
  }
}

// An absent factor is the ratio of the lengths, as a real number.
TEST_F(RulesAgainstMpfr, YarnWithoutFactor) {
  const YarnCase yarn_case{.factor = real(10000) / real(3000), .original = 3000};
  for (const RuleContext& c : contexts()) {
    expect("yarn", c, {{"max_length", 10000}, {"original_length", 3000}}, yarn(c.rotary_dim, c.base, yarn_case));
  }
}

// Grok keeps half of the fast frequencies' share; transformers accepts factors below 1.
TEST_F(RulesAgainstMpfr, YarnWithAnExtFactorAndFactorsBelowOne) {
  for (const double ext_factor : {0.0, 0.25, 0.5, 1.0}) {
    for (const double f : {0.25, 0.8, 4.0}) {
      const YarnCase yarn_case{.factor = f, .original = 4096, .ext_factor = ext_factor};
      for (const RuleContext& c : contexts()) {
        expect("yarn", c, yarn_arguments(yarn_case), yarn(c.rotary_dim, c.base, yarn_case));
      }
    }
  }
  const YarnCase shrunk{.factor = real(2048) / real(4096), .original = 4096};
  const RuleContext c{.rotary_dim = 64, .base = 10000};
  expect("yarn", c, {{"max_length", 2048}, {"original_length", 4096}}, yarn(64, 10000, shrunk));
  EXPECT_EQ(apply("yarn", c, {{"factor", 0.5}, {"original_length", 4096}}).attention_factor, 1);  // ln 0.5 < 0
}

// Bounds that coincide (a step, because of the 0.001), that are swapped, and that are outside the pairs.
TEST_F(RulesAgainstMpfr, YarnWithDegenerateBounds) {
  const std::vector<YarnCase> cases = {
      {.factor = 8, .original = 4096, .beta_fast = 4, .beta_slow = 4, .truncate = false},
      {.factor = 8, .original = 4096, .beta_fast = 1, .beta_slow = 32},
      {.factor = 8, .original = 1, .beta_fast = 32, .beta_slow = 1},
      {.factor = 8, .original = 6, .beta_fast = 32, .beta_slow = 1},  // L / 2 pi just below 1: both bounds are 0
      {.factor = 8, .original = std::int64_t{1} << 31, .beta_fast = 1e-3, .beta_slow = 1e-6},
  };
  for (const YarnCase& yarn_case : cases) {
    for (const RuleContext& c : contexts()) {
      expect("yarn", c, yarn_arguments(yarn_case), yarn(c.rotary_dim, c.base, yarn_case));
    }
  }
}

TEST_F(RulesAgainstMpfr, NtkByParts) {
  for (const double f : {1.0, 4.0, 3.3}) {
    for (const std::int64_t original : {6, 2048, 131072}) {
      for (const RuleContext& c : contexts()) {
        expect("ntk_by_parts", c, {{"factor", f}, {"original_length", original}},
               ntk_by_parts(c.rotary_dim, c.base, f, original));
      }
    }
  }
}

TEST_F(RulesAgainstMpfr, NtkByPartsWithItsFactors) {
  for (const double ntk_factor : {0.0, 0.3, 1.0}) {
    for (const double ext_factor : {0.0, 0.7, 1.0}) {
      for (const RuleContext& c : contexts()) {
        expect("ntk_by_parts", c,
               {{"factor", 4}, {"original_length", 2048}, {"ntk_factor", ntk_factor}, {"ext_factor", ext_factor}},
               ntk_by_parts(c.rotary_dim, c.base, 4, 2048, ntk_factor, ext_factor));
      }
    }
  }
}

TEST_F(RulesAgainstMpfr, LongRopeShortAndLong) {
  for (const RuleContext& c : contexts()) {
    std::vector<double> short_factor, long_factor;
    for (std::int64_t i = 0; i < c.rotary_dim / 2; ++i) {
      short_factor.push_back(1 + 0.01 * static_cast<double>(i));
      long_factor.push_back(1.1 + 0.7 * static_cast<double>(i));
    }
    Arguments arguments{{"short_factor", short_factor},
                        {"long_factor", long_factor},
                        {"original_length", 4096},
                        {"max_length", 131072}};
    const auto expect_list = [&](const RuleContext& context, const std::vector<double>& ext) {
      Reals want = plain(c.rotary_dim, c.base);
      for (std::size_t i = 0; i < want.size(); ++i) want[i] = want[i] / MpfrReal(ext[i]);
      expect("longrope", context, arguments, want);
    };
    expect_list(c, short_factor);  // no length: not extended
    RuleContext once = c;
    once.profile = Profile::vllm;
    expect_list(once, long_factor);  // decided by max_length
    arguments.set("length", std::int64_t{4096});
    expect_list(c, short_factor);
    expect_list(once, long_factor);
    arguments.set("length", std::int64_t{4097});
    expect_list(c, long_factor);
  }
}

TEST_F(RulesAgainstMpfr, Llama3) {
  const std::vector<Llama3Case> cases = {{8, 1, 4, 8192},         {32, 1, 4, 8192}, {8, 1.3, 4.7, 8192},
                                         {3.3, 0.1, 100, 131072}, {8, 2, 2, 8192},  {8, 1, 1, 7}};
  for (const Llama3Case& llama_case : cases) {
    for (const RuleContext& c : contexts()) {
      expect("llama3", c,
             {{"factor", llama_case.factor},
              {"low_freq_factor", llama_case.low},
              {"high_freq_factor", llama_case.high},
              {"original_length", llama_case.original}},
             llama3(c.rotary_dim, c.base, llama_case));
    }
  }
}

TEST_F(RulesAgainstMpfr, Proportional) {
  for (const RuleContext& c : contexts()) {
    const auto pairs = static_cast<std::size_t>(c.rotary_dim / 2);
    expect("proportional", c, {{"rotary_fraction", 0.25}}, proportional(c.rotary_dim, c.base, pairs / 4, 1));
    expect("proportional", c, {{"rotary_fraction", 1}, {"factor", 3.3}},
           proportional(c.rotary_dim, c.base, pairs, 3.3));
  }
}

// ---- values worked by hand

// The double nearest to a number known to more digits.
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
  expect_nearly(attention({{"max_length", 131072}, {"length", 100000}}), root);  // the same with both lists
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

// ---- refusals: the message names the parameter and the rule

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
