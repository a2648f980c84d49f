// SPDX-License-Identifier: Apache-2.0
// Sampling, stopping, rules and reported attention, on small random models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/stretch.h"
#include "probe/generate.h"
#include "support/command.h"
#include "support/tiny_model.h"

namespace locus::probe {
namespace {

using locus::testing::make_tiny;
using locus::testing::TemporaryFolder;
using locus::testing::TinyModel;

class Generate : public ::testing::Test {
 protected:
  Model open(const std::string& architecture) {
    TinyModel tiny = make_tiny(architecture);
    write_hf_folder(tiny, folder_ / architecture);
    return load(folder_ / architecture);
  }
  TemporaryFolder folder_;
};

const std::vector<Token> prompt = {3, 1, 4, 1, 5};

TEST(Sampler, TakesTheFirstOfTheMostLikely) {
  Sampler sampler({});
  const std::vector<float> logits = {0, 2, 1, 2};
  EXPECT_EQ(sampler.pick(logits), 1);
}

TEST(Sampler, DrawsByProbability) {
  // Logits ln 1, ln 2, ln 5 at temperature 1: 1/8, 2/8, 5/8. Of 8000 draws the spread of a count is below 45.
  const std::vector<float> logits = {0, std::log(2.0f), std::log(5.0f)};
  Sampler sampler({.temperature = 1, .seed = 7});
  std::vector<int> counts(3);
  for (int i = 0; i < 8000; ++i) ++counts[static_cast<std::size_t>(sampler.pick(logits))];
  EXPECT_NEAR(counts[0], 1000, 5 * 45);
  EXPECT_NEAR(counts[1], 2000, 5 * 45);
  EXPECT_NEAR(counts[2], 5000, 5 * 45);
  // top_p 0.7 keeps 5/8 and 2/8, renormalised to 5/7 and 2/7.
  Sampler fewer({.temperature = 1, .top_p = 0.7, .seed = 7});
  std::vector<int> kept(3);
  for (int i = 0; i < 7000; ++i) ++kept[static_cast<std::size_t>(fewer.pick(logits))];
  EXPECT_EQ(kept[0], 0);
  EXPECT_NEAR(kept[1], 2000, 5 * 45);
}

TEST(Sampler, RefusesInvalidProbabilities) {
  EXPECT_THROW(Sampler({.temperature = -1}), Error);
  EXPECT_THROW(Sampler({.top_p = 0}), Error);
  EXPECT_THROW(Sampler({.top_p = 1.5}), Error);
  Sampler sampler({});
  EXPECT_THROW(sampler.pick(std::vector<float>{0, std::nanf("")}), Error);
}

TEST_F(Generate, ChunksDoNotChangeTheText) {
  const Model model = open("llama");
  GenerateCall call{.prompt = prompt, .max_tokens = 20, .sampling = {.temperature = 1, .seed = 3}};
  const std::vector<Token> whole = generate(model, model.encoding(), call).tokens;
  EXPECT_EQ(whole.size(), 20U);
  EXPECT_EQ(generate(model, model.encoding(), call).tokens, whole);
  call.sampling.seed = 4;
  EXPECT_NE(generate(model, model.encoding(), call).tokens, whole);
  call.sampling = {};
  const std::vector<Token> greedy = generate(model, model.encoding(), call).tokens;
  call.chunk = 2;
  EXPECT_EQ(generate(model, model.encoding(), call).tokens, greedy);
}

TEST_F(Generate, StopsAtStopTokens) {
  const Model model = open("gpt_neox");
  GenerateCall call{.prompt = prompt, .max_tokens = 20};
  const std::vector<Token> all = generate(model, model.encoding(), call).tokens;
  call.stop = {all[6]};
  const auto first = std::find(all.begin(), all.end(), all[6]);
  EXPECT_EQ(generate(model, model.encoding(), call).tokens, std::vector<Token>(all.begin(), first));
  call.stop = {};
  int asked = 0;
  call.interrupted = [&] { return ++asked > 5; };  // once for the prompt, then after each token
  const Generated part = generate(model, model.encoding(), call);
  EXPECT_TRUE(part.interrupted);
  EXPECT_EQ(part.tokens, std::vector<Token>(all.begin(), all.begin() + 5));
}

TEST_F(Generate, EndsWithTheTableOfPositions) {
  const Model model = open("gpt2");  // 64 rows: 5 for the prompt, and the last token needs none
  const Generated result = generate(model, model.encoding(), {.prompt = prompt, .max_tokens = 100});
  EXPECT_EQ(result.tokens.size(), 60U);
  EXPECT_TRUE(result.out_of_positions);
  EXPECT_THROW(generate(model, model.encoding(), {.prompt = std::vector<Token>(65, 1), .max_tokens = 1}), Error);
}

TEST_F(Generate, RulesChangeTheRotationOnly) {
  const Model model = open("llama");
  const Encoding yarn =
      with_rule(model.encoding(), "yarn", {.trained = model.config().trained_length}, {{"factor", 4.0}});
  EXPECT_EQ(yarn.arguments().integer("original_length"), 64);
  EXPECT_EQ(yarn.rotation().pairing, model.encoding().rotation().pairing);
  EXPECT_EQ(with_rule(model.encoding(), "none", {.trained = model.config().trained_length}).rotation().inv_freq,
            model.encoding().rotation().inv_freq);
  const Encoding linear =
      with_rule(model.encoding(), "linear", {.trained = model.config().trained_length}, {{"factor", 2.0}});
  for (std::size_t i = 0; i < linear.rotation().inv_freq.size(); ++i) {
    EXPECT_DOUBLE_EQ(linear.rotation().inv_freq[i], model.encoding().rotation().inv_freq[i] / 2);
  }
  EXPECT_THROW(with_rule(open("bloom").encoding(), "yarn", {.trained = 8}, {{"factor", 4.0}}), Error);
  EXPECT_THROW(with_rule(model.encoding(), "yern", {.trained = model.config().trained_length}), Error);
}

TEST_F(Generate, ALongerTableRotatesEveryCachedKey) {
  const Model model = open("llama");
  const Encoding rule = with_rule(model.encoding(), "dynamic_ntk", {.trained = model.config().trained_length},
                                  {{"factor", 2.0}, {"max_length", std::int64_t{4}}});
  const auto logits_under = [&](KeyTables tables) {
    Cache cache(model, 16, rule.at_length(5), tables);
    const SequenceId sequence = cache.create();
    model.forward(prompt, sequence, cache);
    cache.set_encoding(rule.at_length(12));
    return model.forward(std::vector<Token>{9}, sequence, cache);
  };
  const std::vector<float> raw = logits_under(KeyTables::raw), turned = logits_under(KeyTables::rerotate);
  double apart = 0, mixed_apart = 0;
  const std::vector<float> mixed = logits_under(KeyTables::mixed);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    apart = std::max<double>(apart, std::abs(raw[i] - turned[i]));
    mixed_apart = std::max<double>(mixed_apart, std::abs(raw[i] - mixed[i]));
  }
  EXPECT_LT(apart * 100, mixed_apart);  // one more rounding of each key, compared with another table
}

TEST_F(Generate, ReportsAttentionPerLayer) {
  for (const char* architecture : {"llama", "bloom", "mistral"}) {
    const Model model = open(architecture);
    Cache cache(model, 16);
    const Segment segment{.sequence = cache.create(), .tokens = prompt};
    const std::vector<std::int64_t> rows = {0, 4};
    std::vector<std::int64_t> layers;
    ForwardCall call{.segments = std::span(&segment, 1), .attention_wanted = rows};
    call.on_attention = [&](const AttentionRows& attention) {
      layers.push_back(attention.layer);
      ASSERT_EQ(attention.probabilities.size(), 4U * 2U * 5U);
      for (std::size_t row = 0; row < 8; ++row) {
        const auto keys = attention.probabilities.subspan(row * 5, 5);
        double sum = 0;
        for (const float key : keys) sum += key;
        EXPECT_NEAR(sum, 1, 5 * 0x1p-22);  // five values, each within a few roundings
        if (row % 2 == 0) {
          EXPECT_EQ(keys[0], 1.0f);  // the first token sees itself
        }
      }
    };
    model.forward(call, cache);
    EXPECT_EQ(layers, (std::vector<std::int64_t>{0, 1}));
  }
}

}  // namespace
}  // namespace locus::probe
