// SPDX-License-Identifier: Apache-2.0
#include "locus/io/llama2c.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "io/bytes.h"
#include "support/story_model.h"

namespace locus::io {
namespace {

const auto parse_as_llama2c = [](std::span<const std::byte> bytes, const std::string& name) {
  parse_llama2c(bytes, name);
};

// dim, hidden_dim, layers, heads, kv_heads, vocab_size, seq_len
using Header = std::array<std::int32_t, 7>;
constexpr Header small = {4, 3, 2, 2, 1, 5, 6};

std::string header_bytes(const Header& header) {
  Bytes bytes;
  for (const std::int32_t value : header) bytes.number(value);
  return bytes.str();
}

/// Weights are numbered from 0 in the order of the file.
std::string checkpoint(const Header& header, std::size_t weights) {
  Bytes bytes;
  bytes.text(header_bytes(header));
  for (std::size_t i = 0; i < weights; ++i) bytes.number(static_cast<float>(i));
  return bytes.str();
}

// By hand: embedding 5 x 4 = 20, norm 2 x 4 = 8, wq 2 x 4 x 4 = 32, wk and wv 2 x 2 x 4 = 16 each, wo 32, norm 8,
// w1, w2, w3 2 x 3 x 4 = 24 each, final norm 4, two tables of 6 x 1; together 220.
constexpr std::size_t small_weights = 220;

TEST(Llama2c, FindsEveryWeight) {
  const std::string bytes = checkpoint(small, small_weights);
  const Llama2cModel model = parse_llama2c(std::as_bytes(std::span(bytes)), "f");
  EXPECT_EQ(model.config.head_dim(), 2);
  EXPECT_EQ(model.config.kv_dim(), 2);
  EXPECT_TRUE(model.config.tied_classifier);
  const auto expect = [](std::span<const float> weights, float first, std::size_t size) {
    ASSERT_EQ(weights.size(), size);
    EXPECT_EQ(weights[0], first);
    EXPECT_EQ(weights.back(), first + static_cast<float>(size) - 1);
  };
  expect(model.token_embedding, 0, 20);
  expect(model.attention_norm, 20, 8);
  expect(model.wq, 28, 32);
  expect(model.wk, 60, 16);
  expect(model.wv, 76, 16);
  expect(model.wo, 92, 32);
  expect(model.ffn_norm, 124, 8);
  expect(model.w1, 132, 24);
  expect(model.w2, 156, 24);
  expect(model.w3, 180, 24);
  expect(model.final_norm, 204, 4);
  expect(model.classifier, 0, 20);
}

TEST(Llama2c, ANegativeVocabularyHasItsOwnClassifier) {
  Header header = small;
  header[5] = -5;
  const std::string bytes = checkpoint(header, small_weights + 20);
  const Llama2cModel model = parse_llama2c(std::as_bytes(std::span(bytes)), "f");
  EXPECT_FALSE(model.config.tied_classifier);
  EXPECT_EQ(model.config.vocab_size, 5);
  ASSERT_EQ(model.classifier.size(), 20u);
  EXPECT_EQ(model.classifier[0], static_cast<float>(small_weights));
}

TEST(Llama2c, RefusesMalformedCheckpoints) {
  const auto with = [](std::size_t index, std::int32_t value) {
    Header header = small;
    header[index] = value;
    return checkpoint(header, small_weights);
  };
  const std::int32_t most = std::numeric_limits<std::int32_t>::max();
  const Header overflowing = {most - 1, most, most, 1, 1, most, most};
  expect_refusals({{"empty", "", "truncated, the header"},
                   {"a version-1 file", with(0, 0x616b3432), "version 1 and 2 are not supported"},
                   {"dim 0", with(0, 0), "dim must be positive, got 0"},
                   {"hidden_dim negative", with(1, -3), "hidden_dim must be positive, got -3"},
                   {"layers 0", with(2, 0), "n_layers must be positive"},
                   {"heads 0", with(3, 0), "n_heads must be positive"},
                   {"kv heads negative", with(4, -1), "n_kv_heads must be positive"},
                   {"vocabulary 0", with(5, 0), "vocab_size must be positive"},
                   {"vocabulary -2^31", with(5, std::numeric_limits<std::int32_t>::min()), "must not be -2^31"},
                   {"length 0", with(6, 0), "seq_len must be positive"},
                   {"heads that do not divide dim", with(3, 3), "dim must be a multiple of n_heads (3), got 4"},
                   {"an odd head", with(3, 4), "must be even to be rotated, got 1"},
                   {"kv heads that do not divide heads", with(4, 3), "multiple of n_kv_heads (3), got 2"},
                   {"a vocabulary beyond the file", with(5, most), "truncated, the token embedding"},
                   {"sizes that overflow", checkpoint({most - 1, 1, most, 1, 1, 1, 1}, 1000), "truncated"},
                   {"everything at its largest", checkpoint(overflowing, 10), "larger than 2^63 - 1"},
                   {"one weight more", checkpoint(small, small_weights + 1), "4 bytes are left over"},
                   {"no classifier of its own", with(5, -5), "truncated, the classifier"}},
                  parse_as_llama2c);
}

TEST(Llama2c, RefusesEveryTruncation) {
  expect_every_truncation_refused(checkpoint(small, small_weights), parse_as_llama2c);
}

TEST(Llama2c, RefusesUnalignedMemory) {
  const std::string bytes = std::string("x").append(checkpoint(small, small_weights));
  const auto heap = on_heap(bytes);
  EXPECT_NE(error_of([&] { parse_llama2c(std::span(heap).subspan(1), "f"); }).find("aligned to 4"), std::string::npos);
}

std::string token(float score, const std::string& bytes) {
  return Bytes().number(score).number(static_cast<std::int32_t>(bytes.size())).text(bytes).str();
}

TEST(Llama2cTokenizer, ReadsTokens) {
  const std::string with_zero("a\0b", 3);
  const std::string bytes = Bytes().number(std::int32_t{3}).text(token(0, "")).text(token(-1.5f, with_zero)).str();
  const Llama2cTokenizer tokenizer = parse_llama2c_tokenizer(std::as_bytes(std::span(bytes)), "f", 2);
  EXPECT_EQ(tokenizer.max_token_length, 3);
  ASSERT_EQ(tokenizer.tokens.size(), 2u);
  EXPECT_EQ(tokenizer.tokens[0].bytes, "");
  EXPECT_EQ(tokenizer.tokens[1].score, -1.5f);
  EXPECT_EQ(tokenizer.tokens[1].bytes, with_zero);
}

TEST(Llama2cTokenizer, RefusesMalformedOnes) {
  const std::string head = Bytes().number(std::int32_t{3}).str();
  const auto length = [&](std::int32_t n) { return head + Bytes().number(1.0f).number(n).text("abcdef").str(); };
  expect_refusals(
      {{"empty", "", "truncated, the largest token length"},
       {"no longest token", Bytes().number(std::int32_t{0}).str(), "must be positive, got 0"},
       {"half a score", head + "12", "truncated, a token's score"},
       {"no length", head + "1234", "truncated, a token's length"},
       {"a negative length", length(-1), "from 0 to 3, got -1"},
       {"longer than the longest", length(4), "from 0 to 3, got 4"},
       {"beyond the file", head + Bytes().number(1.0f).number(std::int32_t{3}).text("ab").str(), "truncated, a token"},
       {"too few tokens", head + token(0, "a"), "must have 2 tokens, as many as the model's vocabulary, got 1"}},
      [](auto bytes, const std::string& name) { parse_llama2c_tokenizer(bytes, name, 2); });
}

// A trained model: its numbers are those of its description, its size the sum of its parts.
class StoryCheckpoint : public ::testing::TestWithParam<locus::testing::StoryModel> {};

TEST_P(StoryCheckpoint, ReadsATrainedModel) {
  const auto& expected = GetParam();
  const Llama2cModel model = read_llama2c(expected.model);
  EXPECT_EQ(model.config.dim, expected.heads * expected.head_dim);
  EXPECT_EQ(model.config.layers, expected.layers);
  EXPECT_EQ(model.config.heads, expected.heads);
  EXPECT_EQ(model.config.kv_heads, expected.kv_heads);
  EXPECT_EQ(model.config.head_dim(), expected.head_dim);
  EXPECT_EQ(model.config.vocab_size, 512);
  EXPECT_EQ(model.config.seq_len, expected.trained_length);
  EXPECT_TRUE(model.config.tied_classifier);
  // Trained weights are small numbers; norms are positive. A weight from a wrong offset would be neither.
  for (const auto weights :
       {model.token_embedding, model.wq, model.wk, model.wv, model.wo, model.w1, model.w2, model.w3}) {
    for (const float weight : weights) ASSERT_LT(std::abs(weight), 10.0f);
  }
  for (const auto norm : {model.attention_norm, model.ffn_norm, model.final_norm}) {
    for (const float weight : norm) ASSERT_GT(weight, 0.0f);
  }
  const Llama2cTokenizer tokenizer = read_llama2c_tokenizer(expected.tokenizer, model.config.vocab_size);
  EXPECT_EQ(tokenizer.tokens.size(), 512u);
  EXPECT_EQ(tokenizer.tokens[1].bytes, "\n<s>\n");
  EXPECT_NE(error_of([&] { read_llama2c_tokenizer(expected.tokenizer, 513); }).find("must have 513 tokens"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Models, StoryCheckpoint, ::testing::ValuesIn(locus::testing::story_models()),
                         locus::testing::story_model_name);

}  // namespace
}  // namespace locus::io
