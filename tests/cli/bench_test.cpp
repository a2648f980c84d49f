// SPDX-License-Identifier: Apache-2.0
// `locus bench`: the form of its output. No test here asserts a time or a ratio.
#include <cmath>
#include <set>

#include "cli/locus_command.h"

namespace locus::testing {
namespace {

// What every case must contain; the verdict is derived again from the numbers.
void expect_well_formed(const Json& line) {
  const std::string name = line.value("name", "?");
  for (const char* key : {"share", "seconds", "limit_seconds", "rate"}) {
    ASSERT_TRUE(line.contains(key) && line[key].is_number()) << name << ' ' << key;
    EXPECT_GT(line[key].get<double>(), 0) << name << ' ' << key;
  }
  ASSERT_EQ(line["interval"].size(), 2u) << name;
  const double share = line["share"], low = line["interval"][0], high = line["interval"][1];
  EXPECT_LE(low, share) << name;
  EXPECT_LE(share, high) << name;
  EXPECT_EQ(line["noisy"], high - low > 0.05 * share) << name;
  EXPECT_FALSE(line["limit"].get<std::string>().empty()) << name;
  EXPECT_TRUE(line["unit"] == "GB/s" || line["unit"] == "GFLOP/s") << name;
  EXPECT_TRUE(line["peers"].is_array()) << name;
  const std::string verdict = line["verdict"];
  EXPECT_TRUE((std::set<std::string>{"", "ok", "missed", "noisy", "the limit is measured wrongly"}.contains(verdict)))
      << name << ": " << verdict;
  if (verdict == "ok") {
    EXPECT_FALSE(line["noisy"].get<bool>()) << name;
    EXPECT_GE(share, line["bar"].get<double>()) << name;
  }
  if (verdict.empty()) {
    EXPECT_TRUE(line["bar"].is_null()) << name;
  }
}

TEST(Bench, AttentionHasACaseForEveryRowOfThePerformancePage) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "takes minutes under a sanitizer; what it measures is tested elsewhere";
#endif
  const TemporaryFolder folder;
  // Seconds on a quiet machine; sanitizers and other builds at the same time may make it minutes.
  const CommandResult result = run_command(LOCUS_COMMAND, words("bench attention --quick --rounds 1 --json"),
                                           folder.path(), std::chrono::minutes(5));
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << result.out;
  EXPECT_FALSE(json["machine"].get<std::string>().empty());
  std::set<std::string> names;
  for (const Json& line : json["lines"]) {
    EXPECT_EQ(line["group"], "attention");
    expect_well_formed(line);
    names.insert(line["name"]);
  }
  for (const char* name : {"ALiBi dense 2048", "no position term 2048", "ALiBi dense, cost of the term 2048",
                           "ALiBi with skipping 2048", "ALiBi decode over 65536 keys"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_EQ(names.size(), json["lines"].size()) << "names must be unique";
}

TEST(Bench, OneGroupRunsAloneAndPrintsARowPerCase) {
  const TemporaryFolder folder;
  const Json json = json_of(folder, "bench tables --quick --rounds 1");
  ASSERT_EQ(json["lines"].size(), 4u);
  const std::string text = output_of(folder, "bench tables --quick --rounds 1");
  for (const Json& line : json["lines"]) {
    EXPECT_EQ(line["group"], "tables");
    expect_well_formed(line);
    EXPECT_NE(text.find(line["name"].get<std::string>()), std::string::npos) << line["name"];
  }
}

TEST(Bench, SelectsCasesByName) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "takes a minute under a sanitizer; what it measures is tested elsewhere";
#endif
  const TemporaryFolder folder;
  const Json json = json_of(folder, "bench probe --cases=Q4_K --rounds 1");
  ASSERT_GE(json["lines"].size(), 1u);  // decode, and prefill if there is a BLAS to compare with
  EXPECT_EQ(json["lines"][0]["name"], "decode Q4_K");
  for (const Json& line : json["lines"]) {
    EXPECT_EQ(line["group"], "probe");
    expect_well_formed(line);
    EXPECT_NE(line["name"].get<std::string>().find("Q4_K"), std::string::npos) << line["name"];
  }
}

TEST(Bench, CheckFailsOnlyIfACaseIsMissed) {
  const TemporaryFolder folder;
  const CommandResult result = run_locus(folder, "bench tables --quick --rounds 3 --check --json");
  const Json json = Json::parse(result.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << result.out << result.err;
  bool missed = false;
  for (const Json& line : json["lines"]) {
    missed = missed || line["verdict"] == "missed" || line["verdict"] == "the limit is measured wrongly";
  }
  EXPECT_EQ(result.exit_code, missed ? 1 : 0);
  EXPECT_EQ(result.err, "");
}

TEST(Bench, RefusesBadOptionsWithOneLine) {
  const TemporaryFolder folder;
  for (const char* line : {"bench rotation", "bench tables --rounds 0", "bench --fast", "bench --lines=nonsense"}) {
    const CommandResult result = run_locus(folder, line);
    EXPECT_EQ(result.exit_code, 2) << line;
    EXPECT_EQ(result.out, "") << line;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

}  // namespace
}  // namespace locus::testing
