// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include <cmath>

#include "io/bytes.h"
#include "probe/measure/attention_map.h"
#include "probe/measure/model_check.h"
#include "probe/measure/retrieval.h"
#include "probe/small_llama.h"
#include "probe/tokenizers/byte_tokens.h"

namespace locus::probe {
namespace {

// ---- attention by distance

// Zero queries attend uniformly: query q gives 1 / (q + 1) to each key.
TEST(AttentionMap, OfAModelWithUniformAttention) {
  const Model model = small_llama({.trained = 2, .blind = true});
  RunControl control;
  control.chunk = 3;
  const auto tokens = random_tokens(4, 20);
  const AttentionMap map = measure_attention(model, model.encoding(), tokens, 100, control);
  ASSERT_EQ(map.bins.size(), 3u);  // 0, 1, 2-3
  ASSERT_EQ(map.ranges.size(), 2u);
  EXPECT_EQ(map.ranges[0].queries, 2);
  EXPECT_EQ(map.ranges[1].queries, 2);
  EXPECT_EQ(map.ranges[0].pairs, (std::vector<std::int64_t>{2, 1, 0}));
  EXPECT_EQ(map.ranges[1].pairs, (std::vector<std::int64_t>{2, 2, 3}));
  for (std::int64_t row = 0; row < 4; ++row) {  // 2 layers, 2 heads; within float32's rounding of a softmax
    EXPECT_NEAR(map.ranges[0].mean(row, 0), (1 + 1.0 / 2) / 2, 1e-6);
    EXPECT_NEAR(map.ranges[0].mean(row, 1), 1.0 / 2, 1e-6);
    EXPECT_EQ(map.ranges[0].mean(row, 2), 0);
    EXPECT_NEAR(map.ranges[1].mean(row, 0), (1.0 / 3 + 1.0 / 4) / 2, 1e-6);
    EXPECT_NEAR(map.ranges[1].mean(row, 1), (1.0 / 3 + 1.0 / 4) / 2, 1e-6);
    EXPECT_NEAR(map.ranges[1].mean(row, 2), (1.0 / 3 + 2.0 / 4) / 3, 1e-6);
  }
  const auto figure = attention_figure("m", map);
  EXPECT_EQ(figure.spec["data"]["values"].size(), 4u * 5);
}

// The attention of a query adds up to one for any model.
TEST(AttentionMap, MassIsOnePerQuery) {
  const Model model = small_llama();
  const auto tokens = random_tokens(20, 20);
  const AttentionMap map = measure_attention(model, model.encoding(), tokens, 3);
  for (const AttentionRange& range : map.ranges) {
    EXPECT_GE(range.queries, 3);
    for (std::int64_t row = 0; row < 4; ++row) {
      double mass = 0;
      for (std::size_t bin = 0; bin < map.bins.size(); ++bin) {
        mass += range.mass[static_cast<std::size_t>(row) * map.bins.size() + bin];
      }
      EXPECT_NEAR(mass, static_cast<double>(range.queries), 1e-5);
    }
  }
}

// ---- the same logits, however the tokens are read

TEST(ModelCheck, HoldsOnRandomWeights) {
  const Model model = small_llama();
  const auto checks = check_model(model, random_tokens(24, 20));
  EXPECT_EQ(checks.size(), 5u);
  for (const Check& check : checks)
    EXPECT_TRUE(check.pass) << check.name << ": " << check.value << " > " << check.bound;
}

// The bound detects a fault: one token of 24 read one position too far.
TEST(ModelCheck, TheBoundDetectsAPositionThatIsOffByOne) {
  const Model model = small_llama();
  const auto tokens = random_tokens(24, 20);
  const auto read = [&](Position skipped) {
    Cache cache(model, 24);
    std::vector<Position> ids(24);
    for (std::size_t i = 0; i < 24; ++i) ids[i] = static_cast<Position>(i) + (i == 23 ? skipped : 0);
    const Segment segment{.sequence = cache.create(), .tokens = tokens, .positions = ids};
    ForwardCall call;
    call.segments = std::span(&segment, 1);
    return model.forward(call, cache);
  };
  const auto right = read(0), wrong = read(1);
  double largest = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(right[i]) - static_cast<double>(wrong[i])));
  }
  EXPECT_GT(largest, 10 * logit_bound(model.config(), 24, right));
  EXPECT_NE(io::error_of([&] { (void)check_model(model, random_tokens(7, 20)); }), "no error");
}

// ---- passkeys

/// llama2.c's vocabulary with only bytes and a space: every character is a token.
std::unique_ptr<Tokenizer> bytes_only() {
  io::Llama2cTokenizer file;
  file.max_token_length = 6;
  file.tokens = {{"<unk>", 0}, {"\n<s>\n", 0}, {"\n</s>\n", 0}};
  for (int b = 0; b < 256; ++b) file.tokens.push_back({byte_token_spelling(static_cast<unsigned char>(b)), 0});
  file.tokens.push_back({" ", 0});
  return make_tokenizer(file, "bytes");
}

TEST(Passkey, PromptsHaveTheKeyAtItsDepth) {
  const auto tokenizer = bytes_only();
  for (const double depth : {0.0, 0.5, 1.0}) {
    const PasskeyPrompt prompt = passkey_prompt(*tokenizer, 1000, depth, 54321);
    const auto size = prompt.tokens.size() + prompt.answer.size();
    EXPECT_LE(size, 1000u);
    EXPECT_GT(size, 1000u - 91);  // a filler sentence more would not fit
    const std::string text = tokenizer->decode(prompt.tokens);
    EXPECT_TRUE(text.ends_with("The pass key is"));
    EXPECT_EQ(tokenizer->decode(prompt.answer), "54321") << "its space is the text's first here, and is taken off";
    EXPECT_EQ(prompt.answer.size(), 6u);
    const std::size_t key = text.find("54321"), filler = text.find("The grass"), last = text.rfind("The grass");
    ASSERT_NE(key, std::string::npos);
    EXPECT_EQ(key < filler, depth == 0.0);
    EXPECT_EQ(key > last, depth == 1.0);
  }
  EXPECT_NE(io::error_of([&] { (void)passkey_prompt(*tokenizer, 200, 0, 54321); }).find("needs at least"),
            std::string::npos);
}

TEST(Passkey, PromptsInIdsAreCountedAsTheLabCounts) {
  const PasskeyFrame frame{.key_mark = 7, .question = 8, .noise = {9}, .keys = {{1, 2, 3}}};
  Random random(1);
  const auto tokens_at = [&](double depth) { return passkey_prompt(frame, 11, depth, random).tokens; };
  // Eleven tokens are read: four of noise, the mark and the key, the question, and the first two of the answer.
  EXPECT_EQ(tokens_at(0), (std::vector<Token>{7, 1, 2, 3, 9, 9, 9, 9, 8}));
  EXPECT_EQ(tokens_at(0.25), (std::vector<Token>{9, 7, 1, 2, 3, 9, 9, 9, 8}));
  EXPECT_EQ(tokens_at(1), (std::vector<Token>{9, 9, 9, 9, 7, 1, 2, 3, 8}));
  EXPECT_EQ(passkey_prompt(frame, 11, 0, random).answer, (std::vector<Token>{1, 2, 3}));
  EXPECT_EQ(passkey_prompt(frame, 7, 1, random).tokens, (std::vector<Token>{7, 1, 2, 3, 8}));
  EXPECT_NE(io::error_of([&] { (void)passkey_prompt(frame, 6, 0, random); }).find("at least 7"), std::string::npos);
}

TEST(Passkey, PromptsInIdsDrawKeysAndNoise) {
  const PasskeyFrame frame{.key_mark = 7, .question = 8, .noise = {9, 10}, .keys = {{1}, {2}, {3}}};
  Random random(1);
  std::set<Token> keys, noise;
  for (int i = 0; i < 50; ++i) {
    const PasskeyPrompt prompt = passkey_prompt(frame, 4, 0, random);
    ASSERT_EQ(prompt.tokens.size(), 4u);
    EXPECT_EQ(prompt.tokens[1], prompt.answer.at(0));
    keys.insert(prompt.answer[0]);
    noise.insert(prompt.tokens[2]);
  }
  EXPECT_EQ(keys, (std::set<Token>{1, 2, 3}));
  EXPECT_EQ(noise, (std::set<Token>{9, 10}));
}

TEST(Passkey, ARandomModelFindsNothingAndTheSummarySaysSo) {
  const auto tokenizer = bytes_only();
  const Model model = small_llama({.vocab = 260, .trained = 700});
  PasskeyGrid grid;
  grid.lengths = {400, 800};
  grid.depths = {0, 1};
  grid.trials = 2;
  const auto cells = measure_passkeys(model, model.encoding(), prompts_in_sentences(*tokenizer), grid);
  ASSERT_EQ(cells.size(), 4u);
  for (const PasskeyCell& cell : cells) {
    EXPECT_EQ(cell.trials, 2);
    EXPECT_EQ(cell.found, 0);  // six tokens out of 260 by chance
    EXPECT_GT(cell.key_loss, 1);
  }
  EXPECT_EQ(
      describe(cells, 700),
      "this model cannot do the task within its trained length (0 of 4 keys found), so results beyond it say nothing "
      "about its positions");
  const std::vector<PasskeyCell> good = {{512, 0, 4, 4, 0.1}, {1024, 0, 4, 1, 3}};
  EXPECT_EQ(describe(good, 512), "within the trained length 4 of 4 keys were found, beyond it 1 of 4");
  EXPECT_TRUE(describe(std::span(good).last(1), 512).starts_with("no length within the trained length"));
  EXPECT_EQ(passkey_figure("m", good).spec["data"]["values"][1]["found"], 0.25);
}

}  // namespace
}  // namespace locus::probe
