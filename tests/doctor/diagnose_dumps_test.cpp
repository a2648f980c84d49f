// SPDX-License-Identifier: Apache-2.0
// Special dumps: no rotation, one token, both sides rotated, large positions, miscounted heads, errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

#include "doctor/dump_maker.h"
#include "locus/doctor/diagnose.h"
#include "locus/error.h"

namespace locus::testing {
namespace {

constexpr DumpShape usual{.batch = 1, .tokens = 12, .heads = 3, .head_dim = 64};

Encoding plain(const std::string& pairing = "half", double base = 10000) {
  return Encoding("rope", {{"head_dim", std::int64_t{64}}, {"pairing", pairing}, {"base", base}});
}

bool has(const std::vector<Verdict>& verdicts, const std::string& name) {
  return std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& verdict) { return verdict.name == name; });
}

TEST(DiagnoseDumps, RandomNumbersAreNoRotation) {
  std::mt19937 random(7);
  RotationDump dump = make_dump(usual, innocent(plain(), counted(usual)), ElementType::float32, random);
  std::shuffle(dump.after.begin(), dump.after.end(), random);
  const Diagnosis diagnosis = diagnose(dump, {.encoding = plain()});
  EXPECT_EQ(diagnosis.kind, Diagnosis::Kind::no_rotation);
  EXPECT_EQ(diagnosis.verdicts.front().name, "no_rotation");
  EXPECT_FALSE(diagnosis.pair_magnitudes.empty()) << "the spectrum must be shown";
  EXPECT_EQ(diagnosis.pair_angles.size(), 4u);
}

TEST(DiagnoseDumps, NothingChangedIsPositionZeroOrNoRotation) {
  std::mt19937 random(8);
  Culprit culprit = innocent(plain(), std::vector<Position>(12, 0));
  const Diagnosis diagnosis = diagnose(make_dump(usual, culprit, ElementType::float32, random), {.encoding = plain()});
  EXPECT_EQ(diagnosis.kind, Diagnosis::Kind::unchanged);
  EXPECT_TRUE(has(diagnosis.verdicts, "positions_all_zero"));
  EXPECT_TRUE(has(diagnosis.verdicts, "not_rotated"));
  for (const Verdict& verdict : diagnosis.verdicts) EXPECT_LT(verdict.confidence, confident);
}

TEST(DiagnoseDumps, OneTokenIsEnoughWithAnExpectation) {
  std::mt19937 random(9);
  DumpShape shape = usual;
  shape.tokens = 1;
  const RotationDump dump = make_dump(shape, innocent(plain(), {777}), ElementType::float32, random);
  const PositionIds meant{.axes = 1, .batch = 1, .tokens = 1, .ids = {776}};
  const Diagnosis diagnosis = diagnose(dump, {.encoding = plain(), .positions = meant});
  ASSERT_TRUE(has(diagnosis.verdicts, "position_offset"));
  EXPECT_NE(diagnosis.verdicts.front().text.find("off by 1 "), std::string::npos) << diagnosis.verdicts.front().text;
}

TEST(DiagnoseDumps, OneTokenAloneIsNeverConfident) {
  std::mt19937 random(10);
  DumpShape shape = usual;
  shape.tokens = 1;
  const Encoding odd = plain("half", 23456);
  const Diagnosis diagnosis = diagnose(make_dump(shape, innocent(odd, {777}), ElementType::float32, random));
  for (const Verdict& verdict : diagnosis.verdicts) EXPECT_LT(verdict.confidence, confident);
}

TEST(DiagnoseDumps, RefusesWhatIsNoDump) {
  std::mt19937 random(11);
  const RotationDump good = make_dump(usual, innocent(plain(), counted(usual)), ElementType::float32, random);
  RotationDump bad = good;
  bad.after[5] = std::nan("");
  EXPECT_THROW(diagnose(bad), Error);
  bad = good;
  bad.before[5] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(diagnose(bad), Error);
  bad = good;
  bad.after.pop_back();
  EXPECT_THROW(diagnose(bad), Error);
  bad = good;
  bad.tokens = 0;
  EXPECT_THROW(diagnose(bad), Error);
  const PositionIds few{.axes = 1, .batch = 1, .tokens = 2, .ids = {0, 1}};
  EXPECT_THROW(diagnose(good, {.encoding = plain(), .positions = few}), Error);
  EXPECT_THROW(diagnose(good, {.encoding = Encoding("rope", {{"head_dim", 32}, {"pairing", "half"}})}), Error);
  EXPECT_THROW(diagnose(good, {.encoding = Encoding("alibi", {{"heads", 3}})}), Error);
}

std::string told(const Diagnosis& diagnosis) {
  std::string text;
  for (const Verdict& one : diagnosis.verdicts) text += std::to_string(one.confidence) + " " + one.text + "\n";
  return text;
}

// A rule that changes only pairs that have not turned yet cannot be seen in a short coarse dump.
TEST(DiagnoseDumps, RulesOfSlowPairsAreDoubtedInShortCoarseDumps) {
  std::mt19937 random(20);
  const DumpShape few{.batch = 1, .tokens = 16, .heads = 2, .head_dim = 64};
  const auto ruled = [&](std::int64_t length) {
    return Encoding("rope", {{"head_dim", std::int64_t{64}},
                             {"pairing", "half"},
                             {"rule", "llama3"},
                             {"factor", 8.0},
                             {"original_length", length}});
  };
  const Encoding right = plain();
  const auto of = [&](const Encoding& used, const Encoding& expected) {
    return diagnose(make_dump(few, innocent(used, counted(few)), ElementType::bfloat16, random),
                    {.encoding = expected});
  };
  const Diagnosis coarse = of(right, right);
  EXPECT_EQ(coarse.verdicts.front().name, "as_expected");
  EXPECT_LT(coarse.verdicts.front().confidence, 0.9) << told(coarse);
  EXPECT_TRUE(has(coarse.verdicts, "rule_of_another_layer")) << told(coarse);
  EXPECT_FALSE(coarse.decide.empty());
  // What was applied is named, or the verdict is in doubt. The trained length of a rule is treated alike.
  for (const std::int64_t length : {8192, 16384, 32768, 65536}) {
    const Verdict of_none = of(ruled(length), right).verdicts.front();
    EXPECT_TRUE(of_none.name == "rule_of_another_layer" || of_none.confidence < 0.9) << length << " " << of_none.text;
    const Verdict of_rule = of(ruled(2 * length), ruled(length)).verdicts.front();
    EXPECT_TRUE(of_rule.name == "other_rule" || of_rule.confidence < 0.9) << length << " " << of_rule.text;
  }
  // float32 measures the slowest pair, so there is no doubt.
  const RotationDump fine = make_dump(few, innocent(right, counted(few)), ElementType::float32, random);
  const Diagnosis clear = diagnose(fine, {.encoding = right});
  EXPECT_TRUE(clear.as_expected());
  EXPECT_GT(clear.verdicts.front().confidence, 0.95);
  EXPECT_FALSE(has(clear.verdicts, "rule_of_another_layer"));
}

// Vector n of [tokens, key heads] is treated as token n / query heads.
TEST(DiagnoseDumps, KeysWithTheQueriesHeads) {
  std::mt19937 random(12);
  const Encoding encoding = plain();
  for (const std::int64_t query_heads : {12, 4}) {  // three key heads: tokens stay whole, or are split
    DumpShape each{.batch = 1, .tokens = usual.tokens * usual.heads, .heads = 1, .head_dim = 64};
    std::vector<Position> positions;
    for (std::int64_t n = 0; n < each.tokens; ++n) positions.push_back(n / query_heads);
    RotationDump dump = make_dump(each, innocent(encoding, positions), ElementType::bfloat16, random);
    dump.tokens = usual.tokens;
    dump.heads = usual.heads;
    const Diagnosis diagnosis = diagnose(dump, {.encoding = encoding});
    ASSERT_EQ(diagnosis.verdicts.front().name, "heads_miscounted") << query_heads;
    const std::string wanted = query_heads == 12 ? "once every 4 tokens" : "had 4 heads";
    EXPECT_NE(diagnosis.verdicts.front().text.find(wanted), std::string::npos) << diagnosis.verdicts.front().text;
  }
}

TEST(DiagnoseDumps, TwoImplementationsBothRotated) {
  std::mt19937 random(13);
  const Encoding encoding = plain("interleaved");
  Culprit right = innocent(encoding, counted(usual));
  Culprit late = right;
  for (Position& p : late.positions) p += 1;
  std::mt19937 again = random;
  const RotationDump one = make_dump(usual, right, ElementType::float32, random);
  const RotationDump two = make_dump(usual, late, ElementType::float32, again);
  RotationDump both = one;
  both.before = one.after;
  both.after = two.after;
  const Diagnosis diagnosis = diagnose(both, {.encoding = encoding, .both_rotated = true});
  EXPECT_EQ(diagnosis.verdicts.front().name, "position_offset") << diagnosis.verdicts.front().text;
  both.after = one.after;
  EXPECT_TRUE(diagnose(both, {.encoding = encoding, .both_rotated = true}).as_expected());
  // Without an encoding, the relative rotation is still one: a single position, the same for all tokens.
  both.after = two.after;
  const Diagnosis relative = diagnose(both);
  ASSERT_FALSE(relative.explanations.empty());
  EXPECT_EQ(relative.explanations.front().positions, std::vector<Position>(12, 1));
}

// Angles of float32 code: the rounded product of a position and a float32 frequency.
TEST(DiagnoseDumps, Float32AnglesFarOut) {
  std::mt19937 random(14);
  const Encoding encoding = plain();
  Culprit culprit = innocent(encoding, counted(usual, 60000));
  culprit.angle = [](Position p, double frequency) {
    return static_cast<double>(static_cast<float>(p) * static_cast<float>(frequency));
  };
  const PositionIds meant{.axes = 1, .batch = 1, .tokens = 12, .ids = culprit.positions};
  const Diagnosis diagnosis =
      diagnose(make_dump(usual, culprit, ElementType::float32, random), {.encoding = encoding, .positions = meant});
  EXPECT_EQ(diagnosis.verdicts.front().name, "float32_angles") << diagnosis.verdicts.front().text;
}

TEST(DiagnoseDumps, LinearFactorOrDividedPositions) {
  std::mt19937 random(15);
  const Encoding linear("rope", {{"head_dim", 64}, {"pairing", "half"}, {"rule", "linear"}, {"factor", 4.0}});
  const Diagnosis diagnosis =
      diagnose(make_dump(usual, innocent(linear, counted(usual)), ElementType::float32, random));
  ASSERT_GE(diagnosis.explanations.size(), 2u);
  EXPECT_EQ(diagnosis.explanations[0].arguments.text("rule"), "linear");
  EXPECT_NEAR(diagnosis.explanations[0].arguments.real("factor"), 4, 1e-4);
  const bool divided = std::any_of(diagnosis.explanations.begin(), diagnosis.explanations.end(),
                                   [](const Explanation& one) { return std::abs(one.position_divisor - 4) < 1e-4; });
  EXPECT_TRUE(divided) << "the equivalent must be named";
  EXPECT_FALSE(diagnosis.decide.empty());
}

TEST(DiagnoseDumps, TwiceOrDoubledAndBackwardsOrNegated) {
  std::mt19937 random(16);
  Culprit culprit = innocent(plain(), counted(usual));
  culprit.times = 2;
  const Diagnosis twice = diagnose(make_dump(usual, culprit, ElementType::float32, random));
  std::vector<Position> doubled = counted(usual);
  for (Position& p : doubled) p *= 2;
  bool as_twice = false, as_doubled = false;
  for (const Explanation& one : twice.explanations) {
    as_twice = as_twice || (one.times == 2 && one.positions == counted(usual));
    as_doubled = as_doubled || (one.times == 1 && one.positions == doubled);
  }
  EXPECT_TRUE(as_twice && as_doubled);

  culprit = innocent(plain(), counted(usual));
  culprit.sign = -1;
  const Diagnosis back = diagnose(make_dump(usual, culprit, ElementType::float32, random));
  std::vector<Position> negated = counted(usual);
  for (Position& p : negated) p = -p;
  bool as_inverse = false, as_negated = false;
  for (const Explanation& one : back.explanations) {
    as_inverse = as_inverse || (one.inverse && one.positions == counted(usual));
    as_negated = as_negated || (!one.inverse && one.positions == negated);
  }
  EXPECT_TRUE(as_inverse && as_negated);
}

TEST(DiagnoseDumps, XposIsKnownByItsMagnitudes) {
  std::mt19937 random(17);
  RotationDump dump = make_dump(usual, innocent(plain("interleaved"), counted(usual)), ElementType::float32, random);
  for (std::size_t n = 0; n < dump.after.size(); ++n) {  // the scale of a query, centre 0, by the definition
    const double i = static_cast<double>(n % 64 / 2);
    const double p = static_cast<double>(n / 64 / 3);
    const double zeta = (2 * i + 0.4 * 64) / (1.4 * 64);
    dump.after[n] = stored(ElementType::float32, dump.after[n] * std::pow(zeta, p / 512));
  }
  const Diagnosis diagnosis = diagnose(dump);
  EXPECT_TRUE(diagnosis.magnitude_varies);
  ASSERT_FALSE(diagnosis.explanations.empty());
  EXPECT_EQ(diagnosis.explanations.front().scheme, "xpos");
  EXPECT_EQ(diagnosis.explanations.front().arguments.real("scale_base"), 512);
  EXPECT_EQ(diagnosis.explanations.front().arguments.integer("centre"), 0);
}

// Key heads that were repeated agree with each other whatever they show.
TEST(DiagnoseDumps, EqualHeadsAreOneWitness) {
  std::mt19937 random(41);
  DumpShape one = usual;
  one.heads = 1;
  const RotationDump single = make_dump(one, innocent(plain(), counted(one, 1)), ElementType::bfloat16, random);
  RotationDump repeated{1, one.tokens, 4, one.head_dim, {}, {}};
  for (std::int64_t n = 0; n < one.tokens * 4; ++n) {
    const std::int64_t from = n / 4 * one.head_dim, to = from + one.head_dim;
    repeated.before.insert(repeated.before.end(), single.before.begin() + from, single.before.begin() + to);
    repeated.after.insert(repeated.after.end(), single.after.begin() + from, single.after.begin() + to);
  }
  const Diagnosis diagnosis = diagnose(repeated, {.encoding = plain()});
  EXPECT_EQ(diagnosis.verdicts.front().name, "position_offset");
  EXPECT_FALSE(diagnosis.magnitude_varies);
}

TEST(DiagnoseDumps, LaterDocumentsWithTheFirstOnesIds) {
  std::mt19937 random(42);
  std::vector<Position> meant, used;
  for (Position t = 0; t < 12; ++t) {
    meant.push_back(t / 4 * 20 + t % 4);
    used.push_back(t % 4);
  }
  const Diagnosis diagnosis =
      diagnose(make_dump(usual, innocent(plain(), used), ElementType::float32, random),
               {.encoding = plain(), .positions = PositionIds{.axes = 1, .batch = 1, .tokens = 12, .ids = meant}});
  EXPECT_EQ(diagnosis.verdicts.front().name, "positions_of_first_document");
}

// Far out all angles are uncertain: what lies between two positions is not as expected, even where no token stands out.
TEST(DiagnoseDumps, HalfAPositionIsNoPosition) {
  for (const ElementType type : {ElementType::float32, ElementType::float16, ElementType::bfloat16}) {
    std::mt19937 random(43);
    DumpShape shape = usual;
    shape.tokens = 64;
    Culprit culprit = innocent(plain(), counted(shape, 1'000'000));
    culprit.angle = [](Position p, double frequency) { return (static_cast<double>(p) + 0.5) * frequency; };
    const PositionIds meant{.axes = 1, .batch = 1, .tokens = 64, .ids = counted(shape, 1'000'000)};
    const Diagnosis diagnosis =
        diagnose(make_dump(shape, culprit, type, random), {.encoding = plain(), .positions = meant});
    EXPECT_FALSE(diagnosis.as_expected()) << name_of(type) << diagnosis.verdicts.front().confidence;
  }
}

// Polar heads, made and rotated by the formulas of PoPE: pair c of a token at p has the length softplus(x_c) and turns by
// p w_c; that of a key starts at its phase.
class PolarDumps : public ::testing::Test {
 protected:
  const Encoding pope_{"pope", {{"heads", 2}, {"head_dim", 16}, {"deviation", 0.5}}};

  Diagnosis judged(Role role, const std::function<double(double phase)>& start, bool polar = true) const {
    const Polar& form = *pope_.rotation().polar;
    std::mt19937 random(12);
    std::normal_distribution<double> normal;
    RotationDump dump{.tokens = 9, .heads = 2, .head_dim = 2 * form.channels};
    for (std::int64_t n = 0; n < 9 * 2 * form.channels; ++n) {
      const std::int64_t c = n % form.channels, head = n / form.channels % 2, p = n / form.channels / 2;
      const double first = start(form.phases[static_cast<std::size_t>(head * form.channels + c)]);
      const double length = std::log1p(std::exp(normal(random)));
      const double at = polar ? first : 2 * normal(random);
      const double turned = at + static_cast<double>(p) * pope_.rotation().inv_freq[static_cast<std::size_t>(c)];
      for (const auto& [angle, to] : {std::pair{at, &dump.before}, std::pair{turned, &dump.after}}) {
        to->push_back(static_cast<float>(length * std::cos(angle)));
        to->push_back(static_cast<float>(length * std::sin(angle)));
      }
    }
    return diagnose(dump, {.encoding = pope_, .role = role});
  }
};

TEST_F(PolarDumps, QueriesStartAtZeroAndKeysAtTheirPhases) {
  const auto none = [](double) { return 0.0; };
  const auto own = [](double phase) { return phase; };
  const auto negated = [](double phase) { return -phase; };
  EXPECT_TRUE(judged(Role::query, none).as_expected());
  EXPECT_TRUE(judged(Role::key, own).as_expected());
  EXPECT_EQ(judged(Role::query, own).verdicts.front().name, "phases_on_queries");
  EXPECT_EQ(judged(Role::key, none).verdicts.front().name, "phases_missing");
  EXPECT_EQ(judged(Role::key, negated).verdicts.front().name, "phases_negated");
}

TEST_F(PolarDumps, HeadsThatAreNotPolarAreNamed) {
  for (const Role role : {Role::query, Role::key}) {
    const Diagnosis diagnosis = judged(
        role, [](double phase) { return phase; }, false);
    EXPECT_EQ(diagnosis.verdicts.front().name, "polar_missing");
    EXPECT_FALSE(diagnosis.as_expected());
  }
}

}  // namespace
}  // namespace locus::testing
