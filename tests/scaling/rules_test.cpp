// SPDX-License-Identifier: Apache-2.0
// Compares every frequency rule with its definition in MPFR.
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
#include "scaling/applied_rule.h"
#include "support/mpfr_real.h"

namespace locus {
namespace {

using testing::apply;
using testing::MpfrReal;
using testing::relative_error;
using Reals = std::vector<MpfrReal>;

constexpr double eighty_bits = 0x1p-80;  // required for tables up to position 2^31 - 1

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

TEST_F(RulesAgainstMpfr, NtkMixed) {
  for (const double f : {1.0, 4.0, 3.3}) {
    for (const double b : {1.0, 0.75, 0.3, 2.5}) {
      for (const RuleContext& c : contexts()) {
        Reals want = plain(c.rotary_dim, c.base);
        const MpfrReal a = log(MpfrReal(f)) / pow(real(c.rotary_dim / 2), MpfrReal(b));
        for (std::size_t i = 0; i < want.size(); ++i) {
          want[i] = want[i] / exp(a * pow(real(static_cast<std::int64_t>(i) + 1), MpfrReal(b)));
        }
        expect("ntk_mixed", c, {{"factor", f}, {"mixed_b", b}}, want);
      }
    }
  }
}

TEST_F(RulesAgainstMpfr, Geometric) {
  for (const double lowest : {0.5, 1.0, 0.3}) {
    for (const RuleContext& c : contexts()) {
      Reals want;
      for (std::int64_t j = 0; j < c.rotary_dim / 2; ++j) {
        const MpfrReal share = real(j) / real(c.rotary_dim / 2 - 1);
        want.push_back(MpfrReal(lowest) * MpfrReal::pi() * pow(MpfrReal(c.base), share));
      }
      expect("geometric", c, {{"lowest", lowest}}, want);
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

}  // namespace
}  // namespace locus
