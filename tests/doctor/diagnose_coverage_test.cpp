// SPDX-License-Identifier: Apache-2.0
// Coverage: single numbers, vectors and heads that differ from the rest, and rows added to hidden states.
#include <gtest/gtest.h>

#include <algorithm>

#include "doctor/dump_maker.h"
#include "locus/doctor/diagnose.h"
#include "locus/doctor/diagnose_bias.h"
#include "locus/error.h"

namespace locus::testing {
namespace {

constexpr DumpShape usual{.batch = 1, .tokens = 16, .heads = 3, .head_dim = 64};

Encoding plain() { return Encoding("rope", {{"head_dim", 64}, {"pairing", "half"}}); }

RotationDump right_dump(ElementType type, std::mt19937& random, const DumpShape& shape = usual) {
  return make_dump(shape, innocent(plain(), counted(shape)), type, random);
}

double* vector_of(RotationDump& dump, std::int64_t token, std::int64_t head) {
  return dump.after.data() + (token * dump.heads + head) * dump.head_dim;
}

const Verdict& first_of(const Diagnosis& diagnosis) { return diagnosis.verdicts.front(); }

constexpr ElementType types[] = {ElementType::float32, ElementType::bfloat16, ElementType::float16};

TEST(DiagnoseCoverage, OneWrongNumberIsSeen) {
  std::mt19937 random(21);
  for (const ElementType type : types) {
    for (const std::int64_t coordinate : {0, 17, 40, 63}) {
      RotationDump dump = right_dump(type, random);
      ASSERT_TRUE(diagnose(dump, {.encoding = plain()}).as_expected()) << name_of(type);
      vector_of(dump, 9, 1)[coordinate] += 1;
      const Diagnosis diagnosis = diagnose(dump, {.encoding = plain()});
      EXPECT_EQ(first_of(diagnosis).name, "tokens_unexplained") << name_of(type) << " coordinate " << coordinate;
      EXPECT_NE(first_of(diagnosis).text.find("token 9"), std::string::npos) << first_of(diagnosis).text;
    }
  }
}

TEST(DiagnoseCoverage, AWrongNumberOutsideTheSliceIsSeen) {
  std::mt19937 random(22);
  const Encoding half("rope", {{"head_dim", 64}, {"pairing", "half"}, {"rotary_dim", 32}});
  RotationDump dump = make_dump(usual, innocent(half, counted(usual)), ElementType::float32, random);
  ASSERT_TRUE(diagnose(dump, {.encoding = half}).as_expected());
  vector_of(dump, 5, 0)[50] = 0;
  EXPECT_EQ(first_of(diagnose(dump, {.encoding = half})).name, "tokens_unexplained");
}

TEST(DiagnoseCoverage, AScaledVectorIsSeen) {
  std::mt19937 random(23);
  for (const ElementType type : types) {
    RotationDump dump = right_dump(type, random);
    double* vector = vector_of(dump, 4, 2);
    for (int j = 0; j < 64; ++j) vector[j] = stored(type, 1.03 * vector[j]);
    const Diagnosis diagnosis = diagnose(dump, {.encoding = plain()});
    EXPECT_EQ(first_of(diagnosis).name, "tokens_unexplained") << name_of(type);
    EXPECT_NE(first_of(diagnosis).text.find("scaled"), std::string::npos) << first_of(diagnosis).text;
  }
}

// Three quarters of the pairs do not turn under this rule: garbage pairs outnumber the turning ones.
TEST(DiagnoseCoverage, GarbageInOneOfTwoHeadsDoesNotOutvoteTheOther) {
  std::mt19937 random(24);
  const DumpShape two{.batch = 1, .tokens = 16, .heads = 2, .head_dim = 64};
  const Encoding encoding("rope",
                          {{"head_dim", 64}, {"pairing", "half"}, {"rule", "proportional"}, {"rotary_fraction", 0.25}});
  std::normal_distribution<double> normal;
  for (const std::int64_t head : {0, 1}) {
    RotationDump dump = make_dump(two, innocent(encoding, counted(two)), ElementType::float32, random);
    for (std::int64_t t = 0; t < two.tokens; ++t) {
      for (std::int64_t j = 0; j < 64; ++j) vector_of(dump, t, head)[j] = stored(ElementType::float32, normal(random));
    }
    EXPECT_EQ(first_of(diagnose(dump, {.encoding = encoding})).name, "heads_unexplained") << head;
  }
}

TEST(DiagnoseCoverage, SaysWhatWasNotJudged) {
  std::mt19937 random(25);
  RotationDump dump = right_dump(ElementType::float32, random);
  for (std::int64_t n = 0; n < 2 * 3 * 64; ++n) dump.before[static_cast<std::size_t>(n)] = 0;
  for (std::int64_t n = 0; n < 2 * 3 * 64; ++n) dump.after[static_cast<std::size_t>(n)] = 0;
  const Diagnosis diagnosis = diagnose(dump, {.encoding = plain()});
  EXPECT_TRUE(diagnosis.as_expected()) << first_of(diagnosis).text;
  const auto says = [&](const std::string& words) {
    return std::any_of(diagnosis.not_judged.begin(), diagnosis.not_judged.end(),
                       [&](const std::string& text) { return text.find(words) != std::string::npos; });
  };
  EXPECT_TRUE(says("tokens 0 to 1"));
  EXPECT_TRUE(says("assumed"));
}

// ---- rows of the hidden site

struct HiddenDump {
  Tensor table;
  RotationDump dump;
};

HiddenDump hidden_dump(std::mt19937& random, const std::vector<Position>& rows) {
  std::normal_distribution<double> normal;
  HiddenDump made{.table = {{40, 12}, {}}, .dump = {1, static_cast<std::int64_t>(rows.size()), 1, 12, {}, {}}};
  for (int n = 0; n < 40 * 12; ++n) made.table.data.push_back(static_cast<float>(normal(random)));
  for (std::size_t n = 0; n < rows.size() * 12; ++n) {
    made.dump.before.push_back(stored(ElementType::float32, normal(random)));
    const auto row = static_cast<std::size_t>(rows[n / 12]);
    made.dump.after.push_back(
        stored(ElementType::float32, made.dump.before[n] + static_cast<double>(made.table.data[row * 12 + n % 12])));
  }
  return made;
}

std::string hidden_verdict(const HiddenDump& made) {
  return first_of(diagnose(made.dump, {.encoding = Encoding("learned", {{"table", made.table}})})).name;
}

TEST(DiagnoseHidden, ComparesTheGivenTable) {
  std::mt19937 random(26);
  HiddenDump right = hidden_dump(random, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(hidden_verdict(right), "as_expected");
  HiddenDump other = right;
  std::reverse(other.table.data.begin(), other.table.data.end());
  EXPECT_EQ(hidden_verdict(other), "table_wrong");
  other = right;
  other.dump.after = other.dump.before;
  EXPECT_EQ(hidden_verdict(other), "rows_missing");
  other = right;
  other.dump.after[3 * 12 + 5] += 0.5;
  EXPECT_EQ(hidden_verdict(other), "tokens_unexplained");
  EXPECT_EQ(hidden_verdict(hidden_dump(random, {2, 3, 4, 5, 6, 7})), "position_offset");
  EXPECT_EQ(hidden_verdict(hidden_dump(random, {5, 4, 3, 2, 1, 0})), "positions_reversed");
}

// A row that is nearly right is wrong; noise of a thousandth of the states is not.
TEST(DiagnoseHidden, MeasuresTheNoise) {
  std::mt19937 random(31);
  std::normal_distribution<double> normal;
  const std::vector<Position> rows = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const HiddenDump right = hidden_dump(random, rows);
  HiddenDump noisy = right;
  for (double& value : noisy.dump.after) value = stored(ElementType::float32, value + 1e-3 * normal(random));
  EXPECT_EQ(hidden_verdict(noisy), "as_expected");
  HiddenDump scaled = right;
  for (float& value : scaled.table.data) value *= 1.02F;
  EXPECT_EQ(hidden_verdict(scaled), "magnitude_wrong");
  HiddenDump near = right;
  for (float& value : near.table.data) value += 0.03F * static_cast<float>(normal(random));
  EXPECT_EQ(hidden_verdict(near), "table_wrong");
  HiddenDump drowned = right;  // states so large that their rounding hides the rows
  for (std::size_t n = 0; n < drowned.dump.before.size(); ++n) {
    const double row = drowned.dump.after[n] - drowned.dump.before[n], state = 3000 * normal(random);
    drowned.dump.before[n] = stored(ElementType::bfloat16, state);
    drowned.dump.after[n] = stored(ElementType::bfloat16, drowned.dump.before[n] + row);
  }
  const Diagnosis unseen = diagnose(drowned.dump, {.encoding = Encoding("learned", {{"table", drowned.table}})});
  EXPECT_LT(first_of(unseen).confidence, confident);
  EXPECT_FALSE(unseen.decide.empty());
}

TEST(DiagnoseHidden, RefusesAnotherWidth) {
  std::mt19937 random(27);
  HiddenDump made = hidden_dump(random, {0, 1, 2, 3});
  made.dump.head_dim = 6;
  made.dump.heads = 2;
  EXPECT_THROW(hidden_verdict(made), Error);
}

// ---- biases

BiasDump alibi_dump(std::int64_t queries) {
  BiasDump dump{4, queries, queries, {}};
  for (std::int64_t n = 0; n < 4 * queries * queries; ++n) {
    const std::int64_t h = n / (queries * queries), q = n / queries % queries, k = n % queries;
    dump.bias.push_back(-std::exp2(-2.0 * static_cast<double>(h + 1)) *
                        static_cast<double>(std::max<std::int64_t>(q - k, 0)));
  }
  return dump;
}

TEST(DiagnoseBiasCoverage, NoiseOneEntryOneHeadAndNothing) {
  const Encoding alibi("alibi", {{"heads", 4}});
  std::mt19937 random(28);
  std::normal_distribution<double> normal;
  BiasDump noisy = alibi_dump(16);
  for (double& value : noisy.bias) value = stored(ElementType::float32, value + 1e-3 * normal(random));
  EXPECT_TRUE(diagnose_bias(noisy, alibi).as_expected());
  BiasDump entry = alibi_dump(16);
  entry.bias[2 * 256 + 5 * 16 + 1] += 0.5;
  EXPECT_EQ(diagnose_bias(entry, alibi).verdicts.front().name, "entries_unexplained");
  BiasDump masked = alibi_dump(16);
  std::fill(masked.bias.begin(), masked.bias.end(), -std::numeric_limits<double>::infinity());
  EXPECT_FALSE(diagnose_bias(masked, alibi).as_expected());
}

// Entries that hide in the noise one by one show together.
TEST(DiagnoseBiasCoverage, NoiseHidesNoHead) {
  const Encoding alibi("alibi", {{"heads", 4}});
  std::mt19937 random(32);
  std::normal_distribution<double> normal;
  for (const std::int64_t queries : {24, 1}) {
    BiasDump dump = alibi_dump(24);
    if (queries == 1) {  // the last query of each head
      BiasDump last{4, 1, 24, {}};
      for (std::int64_t h = 0; h < 4; ++h) {
        const auto from = dump.bias.begin() + (h * 24 + 23) * 24;
        last.bias.insert(last.bias.end(), from, from + 24);
      }
      dump = last;
    }
    const auto noisy = [&](double flattest) {
      BiasDump made = dump;
      for (std::size_t n = 0; n < made.bias.size(); ++n) {
        const bool last_head = 4 * n / made.bias.size() == 3;  // 1/256, 0.09 at most
        made.bias[n] = stored(ElementType::float32, (last_head ? flattest : 1) * made.bias[n] + 1e-3 * normal(random));
      }
      return diagnose_bias(made, alibi);
    };
    EXPECT_TRUE(noisy(1).as_expected()) << queries;
    EXPECT_FALSE(noisy(1.1).as_expected()) << queries;
  }
  BiasDump by_key{4, 6, 9, {}};  // counted from the first key, whose numbers are exactly 0
  for (std::int64_t n = 0; n < 4 * 6 * 9; ++n) {
    const double slope = 0.7 * std::exp2(-2.0 * static_cast<double>(n / 54));
    by_key.bias.push_back(stored(ElementType::float32, slope * static_cast<double>(n % 9)));
  }
  EXPECT_NE(diagnose_bias(by_key, alibi).verdicts.front().name, "row_constant") << "other slopes";
  for (double& value : by_key.bias) value = stored(ElementType::bfloat16, value / 0.7 / 4);
  EXPECT_EQ(diagnose_bias(by_key, alibi).verdicts.front().name, "row_constant");
}

}  // namespace
}  // namespace locus::testing
