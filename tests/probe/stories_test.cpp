// SPDX-License-Identifier: Apache-2.0
// A trained model must tell the story that another program made it tell, however its tokens are batched, cut, padded or
// cached.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "locus/error.h"
#include "locus/io/llama2c.h"
#include "locus/positions.h"
#include "probe/model.h"
#include "support/story_model.h"

namespace locus::probe {
namespace {

using locus::testing::StoryModel;

constexpr Token beginning = 1;
constexpr std::int64_t steps = 200;

Token largest(std::span<const float> logits) {
  return static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

class Stories : public ::testing::TestWithParam<StoryModel> {
 protected:
  void SetUp() override { model_.emplace(load(GetParam().model)); }

  static std::string published() { return told_text(GetParam()); }

  /// As the original program prints tokens: no space after the beginning, <0x0A> for a byte.
  std::string text_of(std::span<const Token> tokens) const {
    const io::Llama2cTokenizer tokenizer =
        io::read_llama2c_tokenizer(GetParam().tokenizer, static_cast<std::int32_t>(model_->config().vocab));
    std::string text;
    Token previous = beginning;
    for (const Token token : tokens) {
      std::string piece = tokenizer.tokens.at(static_cast<std::size_t>(token)).bytes;
      if (previous == beginning && piece.starts_with(' ')) piece.erase(0, 1);
      if (piece.size() == 6 && piece.starts_with("<0x")) {
        piece = std::string(1, static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16)));
      }
      text += piece;
      previous = token;
    }
    return text;
  }

  std::span<const float> row(const std::vector<float>& logits, std::int64_t index) const {
    const auto vocab = static_cast<std::size_t>(model_->config().vocab);
    return std::span(logits).subspan(static_cast<std::size_t>(index) * vocab, vocab);
  }

  /// Greedy tokens after the text of `logits`, one at a time.
  std::vector<Token> continue_greedily(std::vector<float> logits, SequenceId sequence, Cache& cache,
                                       std::int64_t count) const {
    std::vector<Token> tokens;
    while (std::ssize(tokens) < count) {
      tokens.push_back(largest(logits));
      if (std::ssize(tokens) < count) logits = model_->forward(std::span(&tokens.back(), 1), sequence, cache);
    }
    return tokens;
  }

  std::vector<Token> story() const {
    Cache cache(*model_, 256);
    const SequenceId sequence = cache.create();
    return continue_greedily(model_->forward(std::span(&beginning, 1), sequence, cache), sequence, cache, steps);
  }

  /// The beginning and the first `count` tokens of the story.
  std::vector<Token> opening(std::int64_t count) const {
    std::vector<Token> tokens = story();
    tokens.insert(tokens.begin(), beginning);
    tokens.resize(static_cast<std::size_t>(count) + 1);
    return tokens;
  }

  std::optional<Model> model_;
};

TEST_P(Stories, OneTokenAtATimeGivesThePublishedStory) {
  EXPECT_EQ(model_->config().trained_length, GetParam().trained_length);
  EXPECT_EQ(text_of(story()), published());
}

TEST_P(Stories, ThreadsDoNotChangeIt) {
  ThreadPool pool(2);
  Cache cache(*model_, 256), alone(*model_, 256);
  const std::vector<Token> tokens = opening(40);
  EXPECT_EQ(model_->forward(tokens, cache.create(), cache, &pool), model_->forward(tokens, alone.create(), alone));
}

TEST_P(Stories, PrefillSeesEveryNextToken) {
  const std::vector<Token> tokens = opening(steps);
  std::vector<std::int64_t> all;
  for (std::int64_t t = 0; t < steps; ++t) all.push_back(t);
  Cache cache(*model_, 256);
  const Segment segment{.sequence = cache.create(), .tokens = tokens};
  const std::vector<float> logits =
      model_->forward({.segments = std::span(&segment, 1), .logits_wanted = std::span<const std::int64_t>(all)}, cache);
  for (std::int64_t t = 0; t < steps; ++t) {
    EXPECT_EQ(largest(row(logits, t)), tokens[static_cast<std::size_t>(t) + 1]) << t;
  }
}

TEST_P(Stories, PrefillThenDecodeGivesTheRest) {
  const std::vector<Token> tokens = opening(100);
  Cache cache(*model_, 256);
  const SequenceId sequence = cache.create();
  std::vector<Token> rest = continue_greedily(model_->forward(tokens, sequence, cache), sequence, cache, steps - 100);
  rest.insert(rest.begin(), tokens.begin() + 1, tokens.end());
  EXPECT_EQ(text_of(rest), published());
}

TEST_P(Stories, ChunksOfAnySizeGiveTheRest) {
  const std::vector<Token> tokens = opening(100);
  for (const std::size_t chunk : {std::size_t{3}, std::size_t{16}, std::size_t{64}}) {
    Cache cache(*model_, 256);
    const SequenceId sequence = cache.create();
    std::vector<float> logits;
    for (std::size_t begin = 0; begin < tokens.size(); begin += chunk) {
      logits =
          model_->forward(std::span(tokens).subspan(begin, std::min(chunk, tokens.size() - begin)), sequence, cache);
    }
    std::vector<Token> rest = continue_greedily(logits, sequence, cache, steps - 100);
    rest.insert(rest.begin(), tokens.begin() + 1, tokens.end());
    EXPECT_EQ(text_of(rest), published()) << chunk;
  }
}

TEST_P(Stories, LeftPaddingChangesNothing) {
  const std::vector<Token> longer = opening(60);
  std::vector<Token> shorter = opening(25);
  const auto real = std::ssize(shorter);
  const std::int64_t lengths[] = {std::ssize(longer), real};
  const positions::Padded plan = positions::left_padded(lengths);
  const std::int64_t padding = std::ssize(longer) - real;
  shorter.insert(shorter.begin(), static_cast<std::size_t>(padding), Token{7});
  Cache cache(*model_, 600);
  const SequenceId first = cache.create(), second = cache.create();
  const auto ids = std::span(plan.ids.ids);
  const Segment batch[] = {
      {.sequence = first, .tokens = longer, .positions = ids.first(longer.size())},
      {.sequence = second, .tokens = shorter, .positions = ids.last(longer.size()), .padding = padding}};
  const std::vector<float> logits = model_->forward({.segments = batch}, cache);
  EXPECT_EQ(cache.length(second), real);
  for (const std::int64_t index : {0, 1}) {
    const std::span<const float> last = row(logits, index);
    const SequenceId sequence = index == 0 ? first : second;
    const std::int64_t told = lengths[index] - 1;
    std::vector<Token> rest = continue_greedily({last.begin(), last.end()}, sequence, cache, steps - told);
    const std::vector<Token> start = opening(told);
    rest.insert(rest.begin(), start.begin() + 1, start.end());
    EXPECT_EQ(text_of(rest), published()) << index;
  }
}

TEST_P(Stories, AForkContinuesIndependently) {
  const std::vector<Token> tokens = opening(100);
  Cache cache(*model_, 600);
  const SequenceId trunk = cache.create();
  const std::vector<float> logits = model_->forward(tokens, trunk, cache);
  const SequenceId branch = cache.fork(trunk);
  const std::vector<Token> other = {400, 401, 402, 403, 404};
  model_->forward(other, trunk, cache);
  std::vector<Token> rest = continue_greedily(logits, branch, cache, steps - 100);
  rest.insert(rest.begin(), tokens.begin() + 1, tokens.end());
  EXPECT_EQ(text_of(rest), published());
  EXPECT_EQ(cache.length(trunk), 106);
}

TEST_P(Stories, KeysStoredInAnyFormGiveTheSame) {
  for (const KeyTables tables : {KeyTables::raw, KeyTables::mixed}) {
    Cache cache(*model_, 256, model_->encoding(), tables);
    const SequenceId sequence = cache.create();
    const std::vector<Token> told =
        continue_greedily(model_->forward(std::span(&beginning, 1), sequence, cache), sequence, cache, steps);
    EXPECT_EQ(text_of(told), published());
  }
}

TEST_P(Stories, RefusesToExceedALimitedContext) {
  Cache cache(*model_, 16);
  const SequenceId sequence = cache.create();
  const std::vector<Token> tokens(17, Token{3});
  EXPECT_THROW(model_->forward(tokens, sequence, cache), Error);
  EXPECT_EQ(cache.length(sequence), 0);
}

INSTANTIATE_TEST_SUITE_P(Models, Stories, ::testing::ValuesIn(locus::testing::story_models()),
                         locus::testing::story_model_name);

}  // namespace
}  // namespace locus::probe
