// SPDX-License-Identifier: Apache-2.0
// Converts a store filled by hand to results and text, with values worked out by hand.
#include "run/results.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "lab_run/fake_parts.h"
#include "results/file.h"
#include "results/json.h"
#include "run/header.h"
#include "run/summary.h"
#include "support/command.h"

namespace locus::lab {
namespace {

using locus::testing::TemporaryFolder;
using testing::fake_parts;

/// Main number of a line at a length, by seed; NaN: not finite. A missing seed has failed.
using Given = std::map<std::string, std::map<std::int64_t, std::vector<double>>>;

struct Lab {
  TemporaryFolder folder;
  Store store{"sqlite:" + (folder / "store.sqlite").string()};

  /// A run of one task, trained at 32 and tested at 32 and 64, with these numbers.
  Json results(const std::string& task, const Given& given, const std::string& seeds = "3") {
    PlanRequest request{.preset = "quick", .tasks = {task}};
    request.seeds = seeds;
    request.trained_length = 32;
    request.lengths = "1x,2x";
    std::map<std::string, std::vector<std::string>> lines;
    for (const auto& [line, numbers] : given) lines[line.substr(0, line.find('+'))].push_back(line);
    for (const auto& [scheme, own] : lines) request.schemes.push_back(scheme);
    Parts parts = fake_parts();
    parts.lines_of = [&](const TrialSpec& spec) { return lines.at(spec.scheme); };
    const Plan plan = make_plan(request);
    const std::int64_t run = store.begin_run(results::header_json(make_header(plan, parts, "rope")), plan.trials, true);
    while (const auto trial = store.lease(run, {"a"})) {
      std::vector<Measurement> measured = {{trial->spec.scheme, "parameters", 0, -1, 500}};
      const auto seed = static_cast<std::size_t>(trial->spec.seed - 1);
      bool there = true;
      for (const std::string& line : lines.at(trial->spec.scheme)) {
        for (const auto& [length, values] : given.at(line)) {
          there = there && seed < values.size();
          if (there) measured.push_back({line, task == "verbs" ? "loss" : "accuracy", length, -1, values[seed]});
        }
      }
      there ? store.finish(*trial, 2, measured) : store.fail(*trial, "did not work");
    }
    store.end_run(run);
    return results::to_json(make_results(store, run));
  }
};

Json find(const Json& rows, const std::string& line, std::int64_t length = 0) {
  for (const Json& row : rows) {
    if (row.at("line") == line && (length == 0 || row.at("length") == length)) return row;
  }
  ADD_FAILURE() << line << " at " << length << " is missing in " << rows.dump();
  return {};
}

/// Through JSON and back: the results read equal the results written.
std::string summary_of(const Json& json) { return summary_text(results::read_results(json)); }

// Losses; the fake task `verbs` has learned_at 2 and majority 3.
const Given losses = {{"rope", {{32, {1.0, 1.1, 1.2}}, {64, {2.0, 2.2, 2.4}}}},
                      {"alibi", {{32, {1.2, 1.2, 1.2}}, {64, {1.2, 1.3, 1.1}}}},
                      {"nope", {{32, {2.5, 2.4, 2.6}}, {64, {2.5, 2.5, 2.5}}}}};

TEST(Results, GivesMeansWithStudentIntervals) {
  Lab lab;
  const Json results = lab.results("verbs", losses);
  const Json number = find(results["numbers"], "rope", 64);
  // 2.0, 2.2, 2.4: standard deviation 0.2; t(2) = 4.302653.
  const double reach = 4.302653 * 0.2 / std::sqrt(3.0);
  EXPECT_NEAR(number["mean"], 2.2, 1e-12);
  EXPECT_NEAR(number["low"], 2.2 - reach, 1e-6);
  EXPECT_NEAR(number["high"], 2.2 + reach, 1e-6);
  EXPECT_EQ(number["values"], (Json{2.0, 2.2, 2.4}));
  EXPECT_EQ(results["run"]["trials"], (Json{{"planned", 9}, {"finished", 9}, {"failed", 0}}));
  EXPECT_EQ(results["run"]["seconds"], 18);
  EXPECT_EQ(results["costs"].size(), 3u);
  EXPECT_EQ(find(results["costs"], "alibi")["parameters"], 500);
  for (const Json& one : results["numbers"]) EXPECT_NE(one["name"], "parameters");
}

TEST(Results, RanksOnlyLearnedLines) {
  Lab lab;
  const Json verdicts = lab.results("verbs", losses)["verdicts"];
  EXPECT_EQ(find(verdicts, "alibi")["rank"], 1);  // 1.2 beyond
  EXPECT_EQ(find(verdicts, "rope")["rank"], 2);   // 2.2
  EXPECT_EQ(find(verdicts, "nope")["learned"], false);
  EXPECT_TRUE(find(verdicts, "nope")["rank"].is_null());
  EXPECT_NE(find(verdicts, "nope")["reason"].get<std::string>().find("0 of 3 seeds"), std::string::npos);
  EXPECT_NEAR(find(verdicts, "rope")["in_range"], 1.1, 1e-12);
  EXPECT_NEAR(find(verdicts, "rope")["beyond"], 2.2, 1e-12);
}

TEST(Results, RanksAccuraciesFromAboveAndLetsEqualsShare) {
  Lab lab;
  const Json verdicts = lab.results("back", {{"rope", {{32, {1, 1, 1}}, {64, {0.5, 0.5, 0.5}}}},
                                             {"t5", {{32, {1, 1, 1}}, {64, {0.5, 0.5, 0.5}}}},
                                             {"shaw", {{32, {1, 1, 1}}, {64, {0.9, 0.9, 0.9}}}}})["verdicts"];
  EXPECT_EQ(find(verdicts, "shaw")["rank"], 1);
  EXPECT_EQ(find(verdicts, "rope")["rank"], 2);
  EXPECT_EQ(find(verdicts, "t5")["rank"], 2);
}

TEST(Results, JudgesAStretchedLineByTheSchemeThatWasTrained) {
  Lab lab;
  const Json verdicts =
      lab.results("verbs", {{"rope", {{32, {1, 1, 1}}, {64, {2, 2, 2}}}},
                            {"rope+linear", {{32, {2.9, 2.9, 2.9}}, {64, {1.5, 1.5, 1.5}}}}})["verdicts"];
  EXPECT_EQ(find(verdicts, "rope+linear")["learned"], true);
  EXPECT_EQ(find(verdicts, "rope+linear")["rank"], 1);
}

TEST(Results, ComparesWithTheBaselineSeedBySeed) {
  Lab lab;
  const Json pair = find(lab.results("verbs", losses)["pairs"], "alibi", 64);
  // alibi - rope: -0.8, -0.9, -1.3; mean -1, squares 0.04 + 0.01 + 0.09 = 0.14, standard deviation sqrt(0.07).
  const double reach = 4.302653 * std::sqrt(0.07 / 3);
  EXPECT_NEAR(pair["difference"], -1, 1e-12);
  EXPECT_NEAR(pair["low"], -1 - reach, 1e-6);
  EXPECT_NEAR(pair["high"], -1 + reach, 1e-6);
  EXPECT_EQ(pair["seeds"], 3);
  EXPECT_EQ(pair["other"], "rope");
}

TEST(Results, MakesNoIntervalOfOneSeed) {
  Lab lab;
  const Json results = lab.results("verbs", losses, "1");
  EXPECT_TRUE(find(results["numbers"], "rope", 64)["low"].is_null());
  EXPECT_EQ(find(results["numbers"], "rope", 64)["mean"], 2.0);
  EXPECT_TRUE(find(results["pairs"], "alibi", 64)["low"].is_null());
  for (const Json& claim : results["claims"]) EXPECT_EQ(claim["agrees"], "cannot tell") << claim;
  EXPECT_NE(summary_of(results).find("One seed"), std::string::npos);
}

TEST(Results, OmitsFailedSeedsButNotDivergedOnes) {
  Lab lab;
  const double nothing = std::nan("");
  const Json results = lab.results("verbs", {{"rope", {{32, {1.0, 1.2}}, {64, {2.0, 3.0}}}},  // seed 3 failed
                                             {"t5", {{32, {1, 1, 1}}, {64, {1, nothing, 1}}}}});
  EXPECT_EQ(results["run"]["trials"]["failed"], 1);
  EXPECT_EQ(results["failures"][0]["scheme"], "rope");
  EXPECT_EQ(results["failures"][0]["error"], "did not work");
  EXPECT_EQ(find(results["numbers"], "rope", 64)["mean"], 2.5);
  EXPECT_EQ(find(results["numbers"], "rope", 64)["values"], (Json{2.0, 3.0, nullptr}));
  EXPECT_TRUE(find(results["numbers"], "t5", 64)["mean"].is_null());
  EXPECT_EQ(find(results["verdicts"], "t5")["learned"], true);
  EXPECT_TRUE(find(results["verdicts"], "t5")["beyond"].is_null());
  EXPECT_NE(summary_of(results).find("did not work"), std::string::npos);
}

TEST(Results, TakesTheMeanOverDepthsAsTheWhole) {
  Lab lab;
  PlanRequest request{.preset = "quick", .tasks = {"passkey"}, .schemes = {"rope"}};
  request.trained_length = 32;
  request.lengths = "1x,2x";
  const Plan plan = make_plan(request);
  const std::int64_t run =
      lab.store.begin_run(results::header_json(make_header(plan, fake_parts(), "rope")), plan.trials, false);
  const auto trial = lab.store.lease(run, {"a"});
  lab.store.finish(*trial, 1,
                   {{"rope", "accuracy", 32, 0, 1.0},
                    {"rope", "accuracy", 32, 50, 0.9},
                    {"rope", "accuracy", 64, 0, 0.25},
                    {"rope", "accuracy", 64, 50, 0.75}});
  const Json results = results::to_json(make_results(lab.store, run));
  EXPECT_NEAR(results["verdicts"][0]["in_range"], 0.95, 1e-12);
  EXPECT_NEAR(results["verdicts"][0]["beyond"], 0.5, 1e-12);
  const std::string text = summary_of(results);
  EXPECT_NE(text.find("by depth and length"), std::string::npos) << text;
  EXPECT_NE(text.find("  RoPE    0 %  1.00  0.25\n"), std::string::npos) << text;
  EXPECT_NE(text.find("         50 %  0.90  0.75\n"), std::string::npos) << text;
}

TEST(Results, ARunOfAnOlderVersionIsRefusedInOneLine) {
  Lab lab;
  PlanRequest request{.preset = "quick", .tasks = {"back"}};
  const std::int64_t run = lab.store.begin_run({{"preset", "quick"}}, make_plan(request).trials, false);
  try {
    make_results(lab.store, run);
    FAIL();
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("older Locus"), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

// ---- claims

TEST(Claims, AreDecidedByTheShareOfWhatWasLearned) {
  Lab lab;
  const auto says = [](const Json& results, const std::string& start) {
    for (const Json& claim : results["claims"]) {
      if (claim["claim"].get<std::string>().starts_with(start)) return claim["agrees"].get<std::string>();
    }
    return std::string("missing");
  };
  // Learned to a loss of 1 where the majority has 3: a rise of 0.02 is 1 % of it, of 1.2 is 60 %.
  Given given = {{"alibi", {{32, {1, 1, 1}}, {64, {1.01, 1.02, 1.03}}}},
                 {"learned", {{32, {1, 1, 1}}, {64, {2.2, 2.3, 2.25}}}},
                 {"sinusoidal", {{32, {1, 1, 1}}, {64, {1.01, 1.2, 1.4}}}},
                 {"rope", {{32, {1, 1, 1}}, {64, {1.8, 1.9, 1.85}}}},
                 {"rope+linear", {{32, {1, 1, 1}}, {64, {1.5, 1.55, 1.5}}}},
                 {"rope+linear+tuned", {{32, {1, 1, 1}}, {64, {1.1, 1.1, 1.1}}}},
                 {"t5", {{32, {1, 1, 1}}, {64, {1.3, 1.35, 1.3}}}},
                 {"nope", {{32, {1, 1, 1}}, {64, {2.5, 2.6, 2.5}}}},
                 {"xpos", {{32, {1, 1, 1}}, {64, {1.3, 1.35, 1.3}}}},
                 {"kerple", {{32, {1, 1, 1}}, {64, {1.11, 1.12, 1.13}}}},
                 {"fire", {{32, {1, 1, 1}}, {64, {1.0, 1.02, 1.1}}}}};
  Json results = lab.results("verbs", given);
  EXPECT_EQ(says(results, "ALiBi stays flat"), "yes");
  EXPECT_EQ(says(results, "A learned table"), "yes");
  EXPECT_EQ(says(results, "Sinusoidal"), "cannot tell");  // 0.5 %, 10 % and 20 %
  EXPECT_EQ(says(results, "Plain RoPE"), "yes");
  EXPECT_EQ(says(results, "T5's bias lies"), "yes");
  EXPECT_EQ(says(results, "NoPE lies"), "no");
  EXPECT_EQ(says(results, "Position interpolation"), "yes");
  EXPECT_EQ(says(results, "xPos loses less beyond the trained length than RoPE"), "yes");
  EXPECT_EQ(says(results, "KERPLE loses less beyond the trained length than ALiBi"), "no");
  EXPECT_EQ(says(results, "FIRE loses less"), "cannot tell");
  EXPECT_EQ(says(results, "CoPE loses less"), "missing");  // no such line in the run

  given["alibi"][64] = {1.8, 1.9, 1.85};                           // no longer flat
  given["rope"] = {{32, {2.5, 2.5, 2.5}}, {64, {2.5, 2.5, 2.5}}};  // did not learn
  results = lab.results("verbs", given);
  EXPECT_EQ(says(results, "ALiBi stays flat"), "no");
  EXPECT_EQ(says(results, "Plain RoPE"), "cannot tell");
  EXPECT_EQ(says(results, "Position interpolation"), "cannot tell");
}

// ---- texts

TEST(Csv, HasARowPerNumber) {
  Lab lab;
  const Json results = lab.results("verbs", {{"rope:base=2", {{32, {1.5, 2.5}}, {64, {2, 2}}}}}, "2");
  const std::string csv = results::to_csv(results::read_results(results));
  EXPECT_EQ(csv.substr(0, csv.find('\n')), "task,line,name,length,place,mean,low,high,seed_1,seed_2");
  EXPECT_NE(csv.find("\nverbs,rope:base=2,loss,32,-1,2.0,"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\nverbs,rope:base=2,loss,64,-1,2.0,2.0,2.0,2.0,2.0\n"), std::string::npos) << csv;
}

TEST(Summary, ShowsRanksIntervalsAndWhatDidNotLearn) {
  Lab lab;
  const std::string text = summary_of(lab.results("verbs", losses));
  const auto table = text.find("verbs: ");
  const auto first = text.find("ALiBi", table), second = text.find("RoPE", table), last = text.find("NoPE", table);
  EXPECT_TRUE(first < second && second < last) << text;
  EXPECT_NE(text.find("2.200 ±0.497"), std::string::npos) << text;  // 4.302653 x 0.2 / sqrt 3
  EXPECT_NE(text.find("not learned"), std::string::npos);
  EXPECT_NE(text.find("ALiBi  better               -1.000 ±0.657\n"), std::string::npos)
      << text;  // 4.302653 x sqrt(0.07 / 3)
  EXPECT_NE(text.find("The budget"), std::string::npos);
}

TEST(Lines, HaveDistinctNames) {
  const results::Line tuned = describe_line("rope:base=5+dynamic_ntk+tuned");
  EXPECT_EQ(tuned.trained, "rope:base=5");
  EXPECT_EQ(tuned.variant, "dynamic_ntk");
  EXPECT_EQ(tuned.tuned, true);
  EXPECT_EQ(tuned.label, "RoPE:base=5 + dynamic NTK + fine-tuned");
  EXPECT_EQ(tuned.site, "query_key");
  const results::Line plain = describe_line("learned+resized");
  EXPECT_EQ(plain.variant, "resized");
  EXPECT_EQ(plain.tuned, false);
  EXPECT_EQ(describe_line("rope+tuned").variant, "");
}

}  // namespace
}  // namespace locus::lab
