// SPDX-License-Identifier: Apache-2.0
// Results as JSON, both ways, and what is refused.
#include "results/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "locus/error.h"
#include "results/file.h"
#include "results/made_results.h"
#include "results/ranking.h"
#include "results/schema_check.h"
#include "support/command.h"
#include "support/error_of.h"

namespace locus::results {
namespace {

using locus::testing::schema_complaint;
using locus::testing::TemporaryFolder;

nlohmann::json plain(const Json& json) { return nlohmann::json::parse(json.dump()); }

Json older_file() {
  std::ifstream stream((locus::testing::source_dir() / "tests/web/fixture/results.json").string());
  return Json::parse(stream);
}

/// Two tasks, three seeds, a stretched and a fine-tuned line, a seed that diverged and one that failed.
Results example() {
  Results results;
  results.run.preset = "made";
  results.run.created = "2001-02-03T04:05:06Z";
  results.run.seeds = {1, 2, 3};
  results.run.baseline = "a";
  results.run.versions = {{"locus", "1"}, {"compiler", "none"}};
  results.run.machine = {.cpu = "none", .simd = "none", .cores = 2, .memory_bytes = 5};
  results.run.speed = Speed{.task = "one", .ratio = 1.5, .schemes = {{"a", 3, 2, 1.5}, {"b", 4, {}, {}}}};
  results.lines = {{"a", "a", "A", "score", "", false},
                   {"a+x", "a", "A, x", "score", "x", false},
                   {"a+x+tuned", "a", "A + x + fine-tuned", "score", "x", true},
                   {"b", "b", "B", "query_key", "", false}};
  for (const char* name : {"one", "two"}) {
    Task task;
    task.name = task.title = name;
    task.measures = "nothing";
    task.main = "score";
    task.majority = 0.1;
    task.chance = 0.05;
    task.learned_at = 0.5;
    task.trained_length = 8;
    task.lengths = {8, 16};
    task.lines = {"a", "a+x", "a+x+tuned", "b"};
    results.tasks.push_back(task);
    const double nothing = std::nan("");
    const std::vector<std::pair<std::string, BySeed>> beyond = {
        {"a", {0.5, 0.6, 0.4}}, {"a+x", {0.7, 0.8, nothing}}, {"a+x+tuned", {0.9, 0.9, 0.8}}, {"b", {0.3, {}, 0.2}}};
    for (const auto& [line, values] : beyond) {
      results.numbers.push_back({.task = name, .line = line, .name = "score", .length = 8, .values = {0.9, 0.8, 0.95}});
      results.numbers.push_back({.task = name, .line = line, .name = "score", .length = 16, .values = values});
    }
    results.costs.push_back({name, "a", 100, 0.5, {}});
  }
  results.failures = {{"two", "b", 2, "it failed"}};
  results.pairs = {};
  conclude(results);
  return results;
}

TEST(Json, IsTheSameAfterReading) {
  const Json json = to_json(example());
  EXPECT_EQ(to_json(read_results(json)), json);
  EXPECT_EQ(to_json(read_results(Json::parse(json.dump()))), json);
}

TEST(Json, FollowsTheSchema) { EXPECT_EQ(schema_complaint(plain(to_json(example()))), ""); }

TEST(Json, ReadsFilesFromBeforeTheRankingWasWritten) {
  const Json old = older_file();
  ASSERT_FALSE(old.contains("ranking"));
  EXPECT_EQ(schema_complaint(plain(old)), "");
  const Results results = read_results(old);
  EXPECT_EQ(results.tasks.size(), old["tasks"].size());
  for (const Task& task : results.tasks) EXPECT_FALSE(task.lines.empty());
  EXPECT_EQ(schema_complaint(plain(to_json(results))), "");
}

/// Every change breaks the format: the schema rejects it, and so does the reader if it reads that field.
TEST(Json, TheSchemaRejectsBrokenFiles) {
  const Json whole = to_json(example());
  const std::vector<std::pair<const char*, Json>> changes = {
      {"/format", 2},
      {"/format", "1"},
      {"/run/seeds", "1, 2"},
      {"/run/seeds/0", 1.5},
      {"/run/created", "yesterday"},
      {"/run/trials/failed", -1},
      {"/run/speed", 1.5},
      {"/run/versions/locus", 1},
      {"/tasks", Json::array()},
      {"/tasks/0/better", "sideways"},
      {"/tasks/0/metric", "bleu"},
      {"/tasks/1/train_length", "8"},
      {"/tasks/1/model/heads", nullptr},
      {"/lines/0/tuned", "no"},
      {"/numbers/0/mean", "much"},
      {"/numbers/0/values/1", "x"},
      {"/numbers/0/length", 8.5},
      {"/verdicts/0/learned", 1},
      {"/verdicts/0/rank", 0},
      {"/pairs/0/difference", nullptr},
      {"/claims", Json::object()},
      {"/ranking/0/gain", "best"},
      {"/ranking/0/gain", -0.5},
      {"/failures/0/seed", "two"},
      {"/surprise", 1},
      {"/tasks/0/surprise", 1},
  };
  for (const auto& [place, value] : changes) {
    Json broken = whole;
    broken[Json::json_pointer(place)] = value;
    EXPECT_NE(schema_complaint(plain(broken)), "") << place << " = " << value;
  }
  for (const auto& item : whole.items()) {
    if (item.key() == "ranking" || item.key() == "trials" || item.key() == "repeats")
      continue;  // absent from older files
    Json broken = whole;
    broken.erase(item.key());
    EXPECT_NE(schema_complaint(plain(broken)), "") << "without " << item.key();
  }
}

TEST(Json, RefusesWithThePathTheValueAndTheRule) {
  const Json whole = to_json(example());
  const auto refusal = [&](const char* place, const Json& value) -> std::string {
    Json broken = whole;
    broken[Json::json_pointer(place)] = value;
    return testing::error_of([&] { read_results(broken); });
  };
  EXPECT_EQ(refusal("/format", 3), "the results have format 3; this Locus reads 1");
  EXPECT_EQ(refusal("/tasks/1/better", "up"), "tasks[1].better must be lower or higher, got up");
  EXPECT_EQ(refusal("/tasks/1/metric", "bleu"), "tasks[1].metric must be loss or accuracy, got bleu");
  EXPECT_EQ(refusal("/tasks/0/model/heads", "two"), "tasks[0].model.heads must be a whole number, got \"two\"");
  EXPECT_EQ(refusal("/tasks/0/lengths", Json{16, 32}), "tasks[0].lengths must hold train_length (8)");
  EXPECT_EQ(refusal("/numbers/3/values", Json{1}), "numbers[3].values must hold one number per seed (3), got 1");
  EXPECT_EQ(refusal("/numbers/2/mean", "much"), "numbers[2].mean must be a number, got \"much\"");
  EXPECT_EQ(refusal("/verdicts/0/rank", 1.5), "verdicts[0].rank must be a whole number, got 1.5");
  EXPECT_EQ(refusal("/lines/0", 5), "lines[0] must be an object, got number");
  EXPECT_EQ(refusal("/tasks", Json::array()), "the results have no task");
}

TEST(Json, ADivergedSeedLeavesNoMeanOnEitherSide) {
  const Json json = to_json(example());
  for (const Json& number : json["numbers"]) {
    if (number["line"] != "a+x" || number["length"] != 16) continue;
    EXPECT_TRUE(number["mean"].is_null());
    EXPECT_EQ(number["values"], (Json{0.7, 0.8, nullptr}));
  }
  const Results back = read_results(json);
  EXPECT_FALSE(back.main_number(back.tasks[0], "a+x", 16)->estimate);
  EXPECT_FALSE(back.outcome("one", "a+x")->rank);
  EXPECT_NE(back.outcome("one", "a+x")->reason.find("not finite"), std::string::npos);
}

TEST(File, IsWrittenAndRead) {
  const TemporaryFolder folder;
  const Results results = example();
  write_files(folder.path(), results);
  EXPECT_EQ(to_json(read_file(folder.path())), to_json(results));
  EXPECT_EQ(to_json(read_file(folder / "results.json")), to_json(results));
  const std::string csv = folder.read("results.csv");
  EXPECT_EQ(csv, to_csv(results));
  EXPECT_NE(csv.find("one,a+x,score,16,-1,,,,0.7,0.8,\n"), std::string::npos) << csv;
}

TEST(File, RefusesInOneLineNamingTheFile) {
  const TemporaryFolder folder;
  const auto refusal = [&](const std::filesystem::path& path) -> std::string {
    return testing::error_of([&] { read_file(path); });
  };
  EXPECT_EQ(refusal(folder.path()), (folder / "results.json").string() + " does not exist; `locus lab` writes it");
  folder.write("results.json", "{\"format\": 1");
  EXPECT_EQ(refusal(folder.path()), (folder / "results.json").string() + " is not JSON");
  folder.write("results.json", "{\"format\": 7}");
  EXPECT_EQ(refusal(folder.path()),
            (folder / "results.json").string() + ": the results have format 7; this Locus reads 1");
}

}  // namespace
}  // namespace locus::results
