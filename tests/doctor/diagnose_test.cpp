// SPDX-License-Identifier: Apache-2.0
// Generated dumps: random encodings, faults, sizes and storage. The diagnosis must contain the truth, and no confident
// verdict may be wrong.
#include "locus/doctor/diagnose.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>

#include "doctor/dump_maker.h"
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus::testing {
namespace {

template <class T>
T one_of(std::mt19937& random, const std::vector<T>& choices) {
  return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random)];
}

std::int64_t between(std::mt19937& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}

Arguments random_rope(std::mt19937& random, const std::string& rule, std::int64_t head_dim) {
  Arguments arguments{{"head_dim", head_dim}, {"rule", rule}};
  arguments.set("pairing", std::string(one_of<const char*>(random, {"half", "interleaved"})));
  const double any = std::exp(std::uniform_real_distribution<double>(std::log(1e3), std::log(1e7))(random));
  arguments.set("base", one_of<double>(random, {1e4, 5e5, 1e6, any}));
  if (rule != "proportional" && between(random, 0, 3) == 0) arguments.set("rotary_dim", head_dim / 2);
  if (rule == "linear" || rule == "ntk" || rule == "dynamic_ntk") {
    arguments.set("factor", one_of<double>(random, {2, 4, 8, 2.5}));
  }
  if (rule == "dynamic_ntk") {
    arguments.set("max_length", std::int64_t{2048});
    arguments.set("length", std::int64_t{4096});
  }
  if (rule == "yarn" || rule == "llama3" || rule == "ntk_by_parts") {
    arguments.set("factor", one_of<double>(random, {4, 8, 16, 32}));
    arguments.set("original_length", one_of<std::int64_t>(random, {2048, 4096, 8192, 32768}));
  }
  if (rule == "proportional") arguments.set("rotary_fraction", 0.25);
  return arguments;
}

const std::vector<std::string> all_rules = {"none",         "linear", "ntk",    "dynamic_ntk",
                                            "ntk_by_parts", "yarn",   "llama3", "proportional"};

struct Rate {
  int cases = 0;
  int in_set = 0;
  int first = 0;
  int confidently_wrong = 0;
};

std::ostream& operator<<(std::ostream& out, const Rate& rate) {
  return out << rate.cases << " cases, truth in the set " << rate.in_set << ", first " << rate.first
             << ", confident and wrong " << rate.confidently_wrong;
}

// ---- faults, with an expectation

struct Case {
  DumpShape shape;
  Encoding encoding;
  Culprit culprit;
  Expectation expected;
};

using Spoil = std::function<bool(Case&, std::mt19937&)>;  // false: this encoding cannot have the fault

Encoding changed(const Encoding& encoding, const std::string& name, const Value& value) {
  Arguments arguments = encoding.arguments();
  arguments.set(name, value);
  return Encoding(encoding.scheme().name, arguments);
}

std::vector<double> plain_frequencies_of(const Encoding& encoding) {
  std::vector<double> w;
  const double d = static_cast<double>(encoding.rotation().rotary_dim);
  for (std::int64_t i = 0; i < encoding.rotation().pairs(); ++i) {
    w.push_back(std::pow(encoding.arguments().real("base"), -2.0 * static_cast<double>(i) / d));
  }
  return w;
}

PositionIds ids_from(const Case& one, const std::vector<Position>& positions) {
  return {.axes = 1, .batch = one.shape.batch, .tokens = one.shape.tokens, .ids = positions};
}

std::string rule_of(const Encoding& encoding) { return encoding.arguments().text("rule"); }

const std::map<std::string, Spoil>& faults() {
  static const std::map<std::string, Spoil> all = {
      {"as_expected", [](Case&, std::mt19937&) { return true; }},
      {"wrong_pairing",
       [](Case& one, std::mt19937&) {
         Pairing& pairing = one.culprit.slice.pairing;
         pairing = pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
         return true;
       }},
      {"wrong_output_order",
       [](Case& one, std::mt19937&) {
         if (one.culprit.slice.pairing != Pairing::interleaved) return false;
         return one.culprit.slice.deinterleaved_output = true;
       }},
      {"position_offset",
       [](Case& one, std::mt19937& random) {
         const Position by = one_of<Position>(random, {1, -1, 7, 100, 4096, 50000});
         for (Position& p : one.culprit.positions) p += by;
         return true;
       }},
      {"position_offset_from",
       [](Case& one, std::mt19937& random) {
         const std::int64_t from = between(random, 1, one.shape.tokens - 2);
         const Position by = one_of<Position>(random, {1, 2, 5, 30});
         for (std::size_t n = 0; n < one.culprit.positions.size(); ++n) {
           if (static_cast<std::int64_t>(n) % one.shape.tokens >= from) one.culprit.positions[n] += by;
         }
         return true;
       }},
      {"positions_reset",
       [](Case& one, std::mt19937& random) {
         const std::int64_t from = between(random, 2, one.shape.tokens - 2);
         for (Position& p : one.culprit.positions) p = p >= from ? p - from : p;
         return true;
       }},
      {"positions_not_reset",
       [](Case& one, std::mt19937& random) {
         const std::int64_t from = between(random, 2, one.shape.tokens - 2);
         std::vector<Position> meant = one.culprit.positions;
         for (Position& p : meant) p = p >= from ? p - from : p;
         one.expected.positions = ids_from(one, meant);
         return true;
       }},
      {"positions_all_zero",
       [](Case& one, std::mt19937&) {
         for (Position& p : one.culprit.positions) p = 0;
         return true;
       }},
      {"padding_counted",
       [](Case& one, std::mt19937& random) {
         const std::int64_t pads = between(random, 2, one.shape.tokens / 2);
         std::vector<Position> meant = one.culprit.positions;
         for (Position& p : meant) p = std::max<Position>(0, p - pads);
         one.expected.positions = ids_from(one, meant);
         return true;
       }},
      {"base_wrong",
       [](Case& one, std::mt19937& random) {
         const double base = one_of<double>(random, {1e5, 2e6, 12345, 8e5});
         one.culprit.w = changed(one.encoding, "base", base).rotation().inv_freq;
         return true;
       }},
      {"factor_wrong",
       [](Case& one, std::mt19937& random) {
         if (!one.encoding.arguments().has("factor") || rule_of(one.encoding) == "proportional") return false;
         const Encoding other = changed(one.encoding, "factor", one_of<double>(random, {3, 6, 24}));
         one.culprit.w = other.rotation().inv_freq;
         one.culprit.magnitude = other.rotation().magnitude;
         return true;
       }},
      {"rule_not_applied",
       [](Case& one, std::mt19937&) {
         if (rule_of(one.encoding) == "none") return false;
         one.culprit.w = plain_frequencies_of(one.encoding);
         return true;
       }},
      {"rule_applied_twice",
       [](Case& one, std::mt19937&) {
         if (rule_of(one.encoding) == "none" || rule_of(one.encoding) == "proportional") return false;
         const std::vector<double> plain = plain_frequencies_of(one.encoding);
         for (std::size_t i = 0; i < plain.size(); ++i) one.culprit.w[i] *= one.culprit.w[i] / plain[i];
         return true;
       }},
      {"rotated_twice",
       [](Case& one, std::mt19937&) {
         one.culprit.times = 2;
         return true;
       }},
      {"inverse_rotation",
       [](Case& one, std::mt19937&) {
         one.culprit.sign = -1;
         return true;
       }},
      {"magnitude_missing",
       [](Case& one, std::mt19937&) {
         one.culprit.magnitude = 1;
         return one.encoding.rotation().magnitude != 1;
       }},
      {"magnitude_squared",
       [](Case& one, std::mt19937&) {
         one.culprit.magnitude *= one.culprit.magnitude;
         return one.encoding.rotation().magnitude != 1;
       }},
      {"wrong_width",
       [](Case& one, std::mt19937&) {
         if (rule_of(one.encoding) == "proportional") return false;
         const Encoding narrow = changed(one.encoding, "rotary_dim", one.encoding.rotation().rotary_dim / 2);
         one.culprit = innocent(narrow, one.culprit.positions);
         return true;
       }},
      {"wrong_heads",
       [](Case& one, std::mt19937&) {
         if (one.shape.heads < 2) return false;
         one.culprit.source = [heads = one.shape.heads](std::int64_t h) { return (h + 1) % heads; };
         return true;
       }},
      {"bfloat16_angles",
       [](Case& one, std::mt19937&) {
         for (Position& p : one.culprit.positions) p += 1000;
         one.expected.positions = ids_from(one, one.culprit.positions);
         one.culprit.angle = [](Position p, double w) {
           return stored(ElementType::bfloat16, static_cast<double>(p)) * w;
         };
         return true;
       }},
  };
  return all;
}

Rate diagnose_faults(ElementType type, int rounds, unsigned seed) {
  Rate rate;
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    for (const auto& [truth, spoil] : faults()) {
      const bool needs_magnitude = truth.starts_with("magnitude");
      const bool needs_rule = truth.starts_with("rule") || truth == "factor_wrong";
      std::string rule = all_rules[static_cast<std::size_t>(between(random, needs_rule ? 1 : 0, 6))];
      if (needs_magnitude) rule = "yarn";
      DumpShape shape{between(random, 1, 2), between(random, 8, 40), between(random, 1, 6),
                      one_of<std::int64_t>(random, {32, 64, 128})};
      const Encoding encoding("rope", random_rope(random, rule, shape.head_dim));
      Case one{shape, encoding, innocent(encoding, counted(shape)), {.encoding = encoding}};
      if (!spoil(one, random)) continue;
      const Diagnosis diagnosis = diagnose(make_dump(shape, one.culprit, type, random), one.expected);
      ++rate.cases;
      bool found = false;
      bool wrong = false;
      for (const Verdict& verdict : diagnosis.verdicts) {
        found = found || verdict.name == truth;
        const bool follows = verdict.name == "as_expected" ||
                             (truth == "factor_wrong" && verdict.about == Verdict::About::magnitude) ||
                             (truth == "rotated_twice" && verdict.name == "magnitude_squared");
        wrong = wrong || (verdict.confidence >= confident && verdict.name != truth && !follows);
      }
      const bool first = !diagnosis.verdicts.empty() && diagnosis.verdicts.front().name == truth;
      rate.in_set += found;
      rate.first += first;
      rate.confidently_wrong += wrong;
      if (found && !wrong) continue;
      std::cout << (wrong   ? "WRONG "
                    : found ? "not first "
                            : "MISSED ")
                << truth << " " << name_of(type) << " rule " << rule << " base " << encoding.arguments().real("base")
                << " dim " << shape.head_dim << "/" << encoding.rotation().rotary_dim << " tokens " << shape.batch
                << "x" << shape.tokens << " heads " << shape.heads << " residual " << diagnosis.residual << "\n";
      for (const Verdict& verdict : diagnosis.verdicts) {
        std::cout << "    " << verdict.confidence << " " << verdict.name << ": " << verdict.text << " ["
                  << verdict.evidence << "]\n";
      }
    }
  }
  return rate;
}

TEST(Diagnose, NamesFaultsInFloat32) {
  const Rate rate = diagnose_faults(ElementType::float32, 3, 1);
  std::cout << "float32: " << rate << "\n";
  EXPECT_EQ(rate.in_set, rate.cases);
  EXPECT_EQ(rate.confidently_wrong, 0);
}

TEST(Diagnose, NamesFaultsInBfloat16) {
  const Rate rate = diagnose_faults(ElementType::bfloat16, 2, 2);
  std::cout << "bfloat16: " << rate << "\n";
  EXPECT_GE(rate.in_set, rate.cases * 98 / 100);
  EXPECT_EQ(rate.confidently_wrong, 0);
}

TEST(Diagnose, NamesFaultsInFloat16) {
  const Rate rate = diagnose_faults(ElementType::float16, 2, 3);
  std::cout << "float16: " << rate << "\n";
  EXPECT_GE(rate.in_set, rate.cases * 98 / 100);
  EXPECT_EQ(rate.confidently_wrong, 0);
}

// ---- dumps without an expectation

std::string told(const Explanation& explanation) {
  return explanation.arguments.text("rule") + (explanation.inverse ? ", backwards" : "") + " " + explanation.text;
}

// The truth is found if an explanation has its rule and its positions. Its parameters are then right as far as the dump
// shows them, since it would not fit otherwise.
bool is_truth(const Explanation& explanation, const Encoding& encoding, const std::vector<Position>& positions) {
  return explanation.arguments.text("rule") == rule_of(encoding) && explanation.positions == positions &&
         !explanation.inverse && explanation.times == 1 && explanation.position_divisor == 1;
}

Rate infer(ElementType type, int rounds, unsigned seed) {
  Rate rate;
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; ++round) {
    for (const std::string& rule : all_rules) {
      DumpShape shape{between(random, 1, 2), between(random, 8, 40), between(random, 1, 6),
                      one_of<std::int64_t>(random, {32, 64, 128})};
      const Encoding encoding("rope", random_rope(random, rule, shape.head_dim));
      const std::vector<Position> positions = counted(shape, one_of<Position>(random, {0, 0, 1, 17, 300}));
      const Diagnosis diagnosis = diagnose(make_dump(shape, innocent(encoding, positions), type, random));
      ++rate.cases;
      bool found = false;
      for (const Explanation& one : diagnosis.explanations) found = found || is_truth(one, encoding, positions);
      const bool first =
          !diagnosis.explanations.empty() && is_truth(diagnosis.explanations.front(), encoding, positions);
      const bool wrong = diagnosis.verdicts.front().confidence >= confident && !first;
      rate.in_set += found;
      rate.first += first;
      rate.confidently_wrong += wrong;
      if (found && !wrong) continue;
      std::cout << (wrong ? "WRONG " : "MISSED ") << name_of(type) << " rule " << rule << " base "
                << encoding.arguments().real("base") << " dim " << shape.head_dim << "/"
                << encoding.rotation().rotary_dim << " " << name_of(encoding.rotation().pairing) << " tokens "
                << shape.batch << "x" << shape.tokens << " from " << positions.front() << " heads " << shape.heads
                << " residual " << diagnosis.residual << " found "
                << (diagnosis.slice ? name_of(diagnosis.slice->pairing) : "none") << " "
                << (diagnosis.slice ? diagnosis.slice->rotary_dim : 0) << "\n";
      for (const Explanation& one : diagnosis.explanations)
        std::cout << "    " << one.misfit << " " << told(one) << "\n";
    }
  }
  return rate;
}

TEST(Diagnose, InfersEncodingsFromFloat32) {
  const Rate rate = infer(ElementType::float32, 5, 4);
  std::cout << "float32, dumps alone: " << rate << "\n";
  EXPECT_EQ(rate.in_set, rate.cases);
  EXPECT_EQ(rate.confidently_wrong, 0);
}

TEST(Diagnose, InfersEncodingsFromBfloat16) {
  const Rate rate = infer(ElementType::bfloat16, 5, 5);
  std::cout << "bfloat16, dumps alone: " << rate << "\n";
  EXPECT_GE(rate.in_set, rate.cases * 98 / 100);
  EXPECT_EQ(rate.confidently_wrong, 0);
}

}  // namespace
}  // namespace locus::testing
