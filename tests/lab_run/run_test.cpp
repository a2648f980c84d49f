// SPDX-License-Identifier: Apache-2.0
// Whole runs through the command line, with real workers and the real store but instant trials: stopped, killed,
// crashed and continued.
#include <gtest/gtest.h>
#include <fstream>

#include "lab_run/lab_process.h"
#include "results/json.h"
#include "results/schema_check.h"

namespace locus::lab {
namespace {

using locus::testing::CommandResult;
using testing::LabProcess;

class RunTest : public ::testing::Test, protected LabProcess {
 protected:
  RunTest() : LabProcess(LOCUS_FAKE_LAB) {}
};

const std::vector<std::string> slow = {
    "--preset", "quick", "--tasks", "back", "--schemes", "nope,rope:slow,alibi:slow", "--seeds", "2", "--workers", "2"};

TEST_F(RunTest, GivesFilesAndASummary) {
  const CommandResult result = lab({"--preset", "quick", "--seeds", "2"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("24 of 24 trials finished"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("[24/24] "), std::string::npos) << result.err;  // plain lines without a terminal
  EXPECT_EQ(result.err.find('\033'), std::string::npos);
  const Json json = results();
  // fake_loss: 1 + 0.01 seed, plus 0.5 for each of three doublings, except for ALiBi.
  for (const Json& number : json["numbers"]) {
    if (number["task"] != "verbs" || number["length"] != 512) continue;
    EXPECT_NEAR(number["mean"], number["line"] == "alibi" ? 1.015 : 2.515, 1e-12);
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "locus-lab/results.csv"));
}

// The output of a run follows the schema, with or without failures, and is read back unchanged.
TEST_F(RunTest, WritesResultsThatKeepTheSchema) {
  const std::vector<std::vector<std::string>> runs = {
      {"--preset", "quick"},
      {"--preset", "standard", "--seeds", "3"},
      {"--preset", "quick", "--lengths", "1x", "--tasks", "back,order"},
      {"--preset", "quick", "--tasks", "back", "--schemes", "t5:throw,rope:base=5,alibi", "--baseline", "alibi"},
      {"--preset", "quick", "--tasks", "back", "--schemes", "t5:throw", "--baseline", "t5:throw"}};
  for (const std::vector<std::string>& arguments : runs) {
    lab(arguments);
    const std::string text = folder_.read("locus-lab/results.json");
    EXPECT_EQ(locus::testing::schema_complaint(nlohmann::json::parse(text)), "") << text.substr(0, 400);
    const Json json = Json::parse(text);
    EXPECT_TRUE(json.contains("ranking"));
    EXPECT_EQ(results::to_json(results::read_results(json)), json);
  }
}

// A stopped run has results too.
TEST_F(RunTest, AnUnfinishedRunKeepsTheSchema) {
  const pid_t parent = start(slow);
  wait_for_the_middle();
  kill(parent, SIGKILL);
  wait_for(parent);
  EXPECT_EQ(lab({"results"}).exit_code, 0);
  const nlohmann::json json = nlohmann::json::parse(folder_.read("locus-lab/results.json"));
  EXPECT_EQ(locus::testing::schema_complaint(json), "");
  EXPECT_TRUE(json["run"]["finished"].is_null());
}

TEST_F(RunTest, RepeatsNoRankingInAFile) {
  const CommandResult result = lab({"--preset", "quick", "--schemes", "nope,rope:slow", "--workers", "1"});
  std::size_t rankings = 0;
  for (std::size_t at = result.err.find("ranking after"); at != std::string::npos;
       at = result.err.find("ranking after", at + 1)) {
    ++rankings;
  }
  EXPECT_LE(rankings, 1u) << result.err;  // after the first of two tasks; the second ends in the summary
}

TEST_F(RunTest, IsTheSameTwiceAndReusesWhatItHas) {
  lab({"--preset", "quick", "--tasks", "back", "--out", "locus-lab"});
  const Json first = results();
  const CommandResult again = lab({"--preset", "quick", "--tasks", "back"});
  EXPECT_NE(again.err.find("6 of 6 trials are done already"), std::string::npos) << again.err;
  EXPECT_EQ(results(), first);
  const CommandResult more = lab({"--preset", "quick", "--tasks", "back", "--seeds", "2"});
  EXPECT_NE(more.err.find("6 of 12 trials are done already"), std::string::npos) << more.err;
  const CommandResult anew = lab({"--preset", "quick", "--tasks", "back", "--restart"});
  EXPECT_EQ(anew.err.find("already"), std::string::npos) << anew.err;
  EXPECT_EQ(results(), first);
  const CommandResult shown = lab({"results", "--json"});
  EXPECT_EQ(Json::parse(shown.out)["numbers"], first["numbers"]);
}

TEST_F(RunTest, ContinuesAfterAKill) {
  const pid_t parent = start(slow);
  wait_for_the_middle();
  kill(parent, SIGKILL);
  wait_for(parent);
  // The workers end with it, and at most the running trials are lost.
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  for (const StoredTrial& trial : trials()) {
    EXPECT_TRUE(trial.state != TrialState::leased || is_gone(trial.owner)) << "a worker lives on";
  }
  const CommandResult again = lab(slow);
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.err.find("trials are done already"), std::string::npos) << again.err;
  const Json resumed = results();
  std::filesystem::remove_all(folder_ / "locus-lab");
  EXPECT_EQ(lab(slow).exit_code, 0);
  EXPECT_EQ(resumed, results());
}

TEST_F(RunTest, StopsOnCtrlCAndSaysHowToContinue) {
  const pid_t parent = start(slow);
  wait_for_the_middle();
  kill(parent, SIGINT);
  const int status = wait_for(parent);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  EXPECT_NE(folder_.read("err.txt").find("give the same command again"), std::string::npos) << folder_.read("err.txt");
  for (const StoredTrial& trial : trials()) EXPECT_NE(trial.state, TrialState::leased);
}

TEST_F(RunTest, ContinuesAfterTrialsThatThrowOrCrash) {
  const CommandResult result =
      lab({"--preset", "quick", "--tasks", "back", "--schemes", "t5:throw,shaw:crash,xpos:crash_once,rope"});
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.err.find("t5:throw, seed 1: failed: the trial threw"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("shaw:crash, seed 1: failed: the worker was ended by signal 6"), std::string::npos)
      << result.err;
  EXPECT_NE(result.out.find("2 of 4 trials finished, 2 failed"), std::string::npos) << result.out;
  EXPECT_EQ(results()["failures"].size(), 2u);
}

TEST_F(RunTest, SharesItsWorkWithAnotherRunOnTheSameStore) {
  const pid_t first = start(slow);
  wait_for_the_middle();
  const CommandResult second = lab(slow);
  EXPECT_EQ(wait_for(first), 0);
  EXPECT_EQ(second.exit_code, 0) << second.err;
  for (const StoredTrial& trial : trials()) EXPECT_EQ(trial.state, TrialState::finished);
}

TEST_F(RunTest, PlansWithoutRunning) {
  const CommandResult result = lab({"plan", "--preset", "quick", "--json"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const Json plan = Json::parse(result.out);
  EXPECT_EQ(plan["trials"].size(), 12u);
  EXPECT_TRUE(plan["seconds"].is_null() && plan["estimated_from"].is_null()) << "nothing was measured";
  const Json measured = Json::parse(lab({"plan", "--preset", "quick", "--json", "--measure"}).out);
  EXPECT_EQ(measured["estimated_from"], "a few steps of each task");
  EXPECT_GT(measured["seconds"], 0);
  EXPECT_NE(lab({"plan", "--preset", "quick"}).out.find("--measure"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "locus-lab"));
  lab({"--preset", "quick"});
  const CommandResult after = lab({"plan", "--preset", "quick", "--seeds", "2"});
  EXPECT_NE(after.out.find("24 trials, 12 of them done"), std::string::npos) << after.out;
  EXPECT_NE(after.out.find("the trials in the store"), std::string::npos) << after.out;
}

TEST_F(RunTest, SavesModelsAndRepeatsTrialsWithoutOne) {
  const std::vector<std::string> plain = {"--preset", "quick",     "--tasks",
                                          "back",     "--schemes", "rope:base=500000,alibi"};
  std::vector<std::string> saving = plain;
  saving.insert(saving.end(), {"--save-models", "safetensors"});
  const auto exists = [&](const std::string& name) {
    return std::filesystem::exists(folder_ / ("locus-lab/models/" + name));
  };
  ASSERT_EQ(lab(plain).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "locus-lab/models"));
  const Json numbers = results();
  std::vector<std::string> planned = saving;
  planned.insert(planned.begin(), "plan");
  EXPECT_NE(lab(planned).out.find("2 trials, 0 of them done"), std::string::npos) << lab(planned).out;
  const CommandResult first = lab(saving);
  EXPECT_NE(first.err.find("finished trials without a saved model, which run again: 2"), std::string::npos)
      << first.err;
  EXPECT_EQ(results(), numbers);
  EXPECT_TRUE(exists("back-rope_base_500000-seed1/config.json"));
  EXPECT_TRUE(exists("back-alibi-seed1/model.safetensors"));

  const CommandResult again = lab(saving);
  EXPECT_NE(again.err.find("2 of 2 trials are done already"), std::string::npos) << again.err;
  // A model of another trial has this one's file name: other steps, the same name.
  std::vector<std::string> other = saving;
  other.insert(other.end(), {"--steps", "3"});
  ASSERT_EQ(lab(other).exit_code, 0);
  std::filesystem::remove(folder_ / "locus-lab/models/back-alibi-seed1/model.safetensors");
  const CommandResult back = lab(saving);
  EXPECT_NE(back.err.find("finished trials without a saved model, which run again: 2"), std::string::npos) << back.err;
  EXPECT_EQ(results(), numbers);
}

TEST_F(RunTest, ReportsAModelThatIsNotSaved) {
  const CommandResult result = lab({"--preset", "quick", "--tasks", "order,back", "--schemes", "rope:throw,alibi",
                                    "--save-models", "safetensors", "--baseline", "alibi"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.err.find("the task order trains encoders with pooling"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("models not saved: 1, the first of them back-rope_throw-seed1"), std::string::npos)
      << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "locus-lab/models/order-alibi-seed1"));
}

TEST_F(RunTest, RefusesWithOneLine) {
  folder_.write("file", "not a folder");
  folder_.write("broken-store", "");
  std::filesystem::create_directory(folder_ / "broken");
  std::ofstream(folder_ / "broken/store.sqlite") << std::string(3000, 'x');
  const std::vector<std::vector<std::string>> wrong = {{"--preset", "slow"},
                                                       {"--tasks", "nothing"},
                                                       {"--schemes", "rop"},
                                                       {"--seeds", "0"},
                                                       {"--steps", "none"},
                                                       {"--workers", "0"},
                                                       {"--text", "missing.txt"},
                                                       {"--baseline", "nobody", "--preset", "quick"},
                                                       {"--out", "file"},
                                                       {"--out", "broken"},
                                                       {"results", "--out", "nowhere"},
                                                       {"--save-models", "onnx"},
                                                       {"plan", "--save-models", "onnx"},
                                                       {"--unknown"},
                                                       {"unknown"}};
  for (const std::vector<std::string>& arguments : wrong) {
    const CommandResult result = lab(arguments);
    EXPECT_EQ(result.exit_code, 2) << arguments[0] << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << arguments[0] << result.err;
    EXPECT_EQ(result.out, "") << arguments[0];
  }
  EXPECT_NE(lab({"plan", "--unknown"}).err.find("(see locus lab plan --help)"), std::string::npos);
  const Json error = Json::parse(lab({"--seeds", "0", "--json"}).err, nullptr, false);
  EXPECT_NE(error["error"].get<std::string>().find("--seeds"), std::string::npos) << error;
  EXPECT_EQ(error["exit_code"], 2);
}

TEST_F(RunTest, HasHelpWithExamples) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--help"}, {"plan", "--help"}, {"results", "--help"}}) {
    const CommandResult result = lab(arguments);
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.out.find("Example"), std::string::npos) << result.out;
    EXPECT_EQ(result.out.find("\n  worker "), std::string::npos) << "for our own use only";
  }
}

}  // namespace
}  // namespace locus::lab
