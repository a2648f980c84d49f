// SPDX-License-Identifier: Apache-2.0
// Models saved by the real lab and probed by the real command; and the files after a kill.
#include <gtest/gtest.h>

#include "lab_run/lab_process.h"

namespace locus::lab {
namespace {

using locus::testing::CommandResult;

class SavingLab : public ::testing::Test, protected testing::LabProcess {
 protected:
  SavingLab() : LabProcess(LOCUS_LAB) {}

  CommandResult probe(std::vector<std::string> words) const {
    words.insert(words.begin(), "probe");
    return locus::testing::run_command(LOCUS_COMMAND, words, folder_.path());
  }
  Json probed(std::vector<std::string> words) const {
    words.push_back("--json");
    const CommandResult result = probe(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out, nullptr, false);
  }
};

std::vector<std::string> tiny_lab(const std::string& tasks, const std::string& schemes) {
  return {"--preset", "quick",   "--no-speed", "--no-report",   "--tasks", tasks,       "--schemes",
          schemes,    "--steps", "5",          "--save-models", "both",    "--lengths", "1x,2x"};
}

TEST_F(SavingLab, SavedModelsAreProbed) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += static_cast<char>('a' + i * i % 7);
  folder_.write("text.txt", text);
  std::vector<std::string> words = tiny_lab("passkey,text,order", "rope:base=500000");
  words.insert(words.end(), {"--text", "text.txt", "--baseline", "rope:base=500000"});
  const CommandResult lab_result = lab(words);
  ASSERT_EQ(lab_result.exit_code, 0) << lab_result.err;
  const std::string models = "locus-lab/models/";
  EXPECT_FALSE(std::filesystem::exists(folder_ / (models + "order-rope_base_500000-seed1")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / (models + "order-rope_base_500000-seed1.gguf")));
  folder_.write("ids.json", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]");
  std::vector<Json> grids, losses;
  for (const char* ending : {"", ".gguf"}) {
    const std::string passkey = models + "passkey-rope_base_500000-seed1" + ending;
    EXPECT_EQ(probed({"check", passkey, "--length", "16"})["failed"], 0);
    losses.push_back(probed({"loss", passkey, "--ids", "ids.json", "--rules", "own"}));
    losses.back().erase("model");
    // The grid uses the model's tokens, by default at the lengths of the lab.
    grids.push_back(probed({"retrieve", passkey, "--trials", "1", "--depths", "0,1"}));
    grids.back().erase("model");
    ASSERT_EQ(grids.back()["cells"].size(), 8u);
    EXPECT_EQ(grids.back()["cells"][7]["length"], 8 * 32);
    EXPECT_EQ(grids.back()["trained_length"], 32);
    const CommandResult refused = probe({"generate", passkey, "--prompt", "The"});
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.err.find("are not text"), std::string::npos) << refused.err;
    EXPECT_TRUE(probed({"loss", passkey, "--rules", "own", "--buckets", "0,16,32"}).is_object());  // sampled

    const std::string bytes = models + "text-rope_base_500000-seed1" + ending;
    const CommandResult said = probe({"generate", bytes, "--prompt", "abc", "--max-tokens", "4"});
    EXPECT_EQ(said.exit_code, 0) << said.err;
    EXPECT_EQ(said.out.size(), 4u + 1);  // and a newline
    EXPECT_TRUE(probed({"loss", bytes, "--text", "text.txt", "--rules", "own,ntk:2", "--buckets", "0,64"}).is_object());
  }
  EXPECT_EQ(grids[0], grids[1]);
  EXPECT_EQ(losses[0], losses[1]);
}

TEST_F(SavingLab, AKillLeavesNoTrialFinishedWithoutItsModel) {
  std::vector<std::string> words = tiny_lab("back", "rope,alibi,learned");
  words.insert(words.end(), {"--seeds", "2", "--workers", "2", "--steps", "12"});
  words.erase(words.begin() + 8, words.begin() + 10);  // the other --steps
  const pid_t parent = start(words);
  wait_for_the_middle();
  kill(parent, SIGKILL);
  wait_for(parent);
  const auto expect_saved = [&] {
    std::size_t finished = 0;
    for (const StoredTrial& trial : trials()) {
      if (trial.state != TrialState::finished) continue;
      ++finished;
      const std::string name = "back-" + trial.spec.scheme + "-seed" + std::to_string(trial.spec.seed);
      for (const char* ending : {"", ".gguf"}) {
        const CommandResult check = probe({"check", "locus-lab/models/" + name + ending, "--length", "16"});
        EXPECT_EQ(check.exit_code, 0) << check.err;
      }
    }
    return finished;
  };
  EXPECT_GE(expect_saved(), 1u);
  const CommandResult resumed = lab(words);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("trials are done already"), std::string::npos) << resumed.err;
  EXPECT_EQ(resumed.err.find("no saved model"), std::string::npos) << resumed.err;
  EXPECT_EQ(expect_saved(), 6u);
}

}  // namespace
}  // namespace locus::lab
