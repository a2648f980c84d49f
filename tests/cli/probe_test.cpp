// SPDX-License-Identifier: Apache-2.0
// The command line of `locus probe generate`. tests/probe tests what models compute.
#include <cmath>

#include "cli/locus_command.h"
#include "support/paths.h"
#include "support/story_model.h"

namespace locus::testing {
namespace {

CommandResult generate(const TemporaryFolder& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"probe", "generate"});
  CommandResult result = run_command(LOCUS_COMMAND, arguments, folder.path());
  if (result.exit_code == 0) {  // the text, and a newline that is not part of it
    EXPECT_TRUE(result.out.ends_with('\n')) << result.out;
    if (!result.out.empty()) result.out.pop_back();
  }
  return result;
}

class ProbeGenerate : public ::testing::TestWithParam<StoryModel> {
 protected:
  static std::string published() { return told_text(GetParam()); }
  /// The text up to the model's `cut`.
  static std::string prompt() { return published().substr(0, published().find(GetParam().cut)); }
  const std::string model_ = GetParam().model.string();
  const std::string tokenizer_ = GetParam().tokenizer.string();
  TemporaryFolder folder_;
};

TEST_P(ProbeGenerate, PrintsThePublishedStoryAndNothingElse) {
  const CommandResult result = generate(
      folder_, {model_, "--tokenizer", tokenizer_, "--prompt", "", "--max-tokens", "200", "--temperature", "0"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, published());
  EXPECT_NE(result.err.find("tokens/s"), std::string::npos) << result.err;
}

TEST_P(ProbeGenerate, ContinuesAPromptWithAnyChunksAndThreads) {
  const std::string story = published();
  for (const std::string chunk : {"1", "4", "512"}) {
    const CommandResult result = generate(folder_, {model_, "--tokenizer", tokenizer_, "--prompt", prompt(),
                                                    "--max-tokens", "30", "--chunk", chunk, "--threads", "1"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_FALSE(result.out.empty());
    EXPECT_EQ(story.rfind(prompt() + result.out, 0), 0U) << result.out;
  }
}

// The pieces of a vocabulary are text of strangers: they are shown, not obeyed.
TEST_P(ProbeGenerate, PrintsNoControlCharacters) {
  std::string vocabulary = text_of(GetParam().tokenizer);
  const std::string& stop = GetParam().stop;
  const std::string piece = std::string{static_cast<char>(stop.size()), 0, 0, 0} + stop;  // its length, and its bytes
  const std::string spoilt = piece.substr(0, piece.size() - 1) + '\x1b';
  const std::size_t at = vocabulary.find(piece);
  ASSERT_NE(at, std::string::npos);
  folder_.write("spoilt.bin", vocabulary.replace(at, piece.size(), spoilt));
  const CommandResult result = generate(folder_, {model_, "--tokenizer", "spoilt.bin", "--max-tokens", "200"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find(GetParam().sentence + "?"), std::string::npos) << result.out;
  for (const char c : result.out) EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << int{c};
}

TEST_P(ProbeGenerate, TakesARule) {
  const auto told = [&](const std::string& rule, const std::string& factor) {
    std::vector<std::string> arguments = {model_, "--max-tokens", "60", "--rope-rule", rule};
    if (!factor.empty()) arguments.insert(arguments.end(), {"--rope-factor", factor});
    const CommandResult result = generate(folder_, arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.out;
  };
  EXPECT_EQ(published().rfind(told("none", ""), 0), 0U);
  EXPECT_NE(published().rfind(told("linear", "1000"), 0), 0U);  // 60 tokens within a sixteenth of a position
}

TEST_P(ProbeGenerate, RefusesBadInputWithOneLine) {
  const auto expect_line = [&](const std::vector<std::string>& arguments, const std::string& part) {
    const CommandResult result = generate(folder_, arguments);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  };
  expect_line({model_, "--rope-factor", "4"}, "--rope-rule");
  expect_line({model_, "--rope-rule", "yern"}, "yern");
  expect_line({model_, "--rope-rule", "yarn", "--rope-set", "alpha=1"}, "alpha");
  expect_line({model_, "--top-p", "0"}, "top_p");
  expect_line({model_, "--max-tokens", "-1"}, "max_tokens");
  expect_line({model_, "--max-tokens", "1000000000000"}, "GB");
  expect_line({model_, "--tokenizer", "absent.bin"}, "absent.bin");
  expect_line({"absent.gguf"}, "absent.gguf");
  expect_line({tokenizer_}, GetParam().tokenizer.filename().string());
}

// The story is greedy: the most likely token after each index is the next one.
TEST_P(ProbeGenerate, LogitsOfChosenTokens) {
  const auto logits = [&](const std::string& at, const std::string& window) {
    std::vector<std::string> line{"probe", "logits", model_, "--tokenizer", tokenizer_, "--at", at, "--json"};
    line.insert(line.end(), {"--prompt", prompt(), "--output", "logits.npy"});
    if (!window.empty()) line.insert(line.end(), {"--window", window});
    const CommandResult result = run_command(LOCUS_COMMAND, line, folder_.path());
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return Json::parse(result.out, nullptr, false);
  };
  const Json json = logits("0:5", "");
  const Json& tokens = json["tokens"];
  ASSERT_EQ(json["places"].size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(json["places"][i]["place"], i);
    EXPECT_EQ(json["places"][i]["token"], tokens[i]);
    EXPECT_EQ(json["places"][i]["likeliest"][0]["token"], tokens[i + 1]);
  }
  const std::vector<double> all = read_array(folder_, "logits.npy", io::NpyType::float32, {5, 512});
  // A window over the whole prompt changes nothing; a window of one token changes all except the first index.
  logits("0:5", "1000");
  EXPECT_EQ(read_array(folder_, "logits.npy", io::NpyType::float32, {5, 512}), all);
  logits("0:5", "1");
  const std::vector<double> alone = read_array(folder_, "logits.npy", io::NpyType::float32, {5, 512});
  double first = 0, others = 0;
  for (std::size_t i = 0; i < all.size(); ++i) (i < 512 ? first : others) += std::fabs(all[i] - alone[i]);
  EXPECT_LT(first, 1e-2);
  EXPECT_GT(others, 100);
  const CommandResult beyond =
      run_command(LOCUS_COMMAND, {"probe", "logits", model_, "--prompt", "a", "--at", "99"}, folder_.path());
  EXPECT_EQ(beyond.exit_code, 2);
  EXPECT_NE(beyond.err.find("--at must be token indices"), std::string::npos) << beyond.err;
}

INSTANTIATE_TEST_SUITE_P(Models, ProbeGenerate, ::testing::ValuesIn(story_models()), story_model_name);

}  // namespace
}  // namespace locus::testing
