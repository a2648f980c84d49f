// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "io/bytes.h"
#include "probe/tokenizers/byte_tokens.h"
#include "probe/tokenizers/tokenizer.h"
#include "support/story_model.h"

namespace locus::probe {
namespace {

using Ids = std::vector<TokenId>;

/// 0 <unk>, 1 <s>, 2 </s>, 3 + b the bytes, then from 259 on: these.
io::Llama2cTokenizer small_file() {
  io::Llama2cTokenizer file;
  file.max_token_length = 7;
  file.tokens = {{"<unk>", 0}, {"\n<s>\n", 0}, {"\n</s>\n", 0}};
  for (int byte = 0; byte < 256; ++byte) {
    file.tokens.push_back({byte_token_spelling(static_cast<unsigned char>(byte)), 0});
  }
  for (const auto& [bytes, score] : std::vector<std::pair<std::string, float>>{{" ", -1},
                                                                               {"a", -2},
                                                                               {"b", -3},
                                                                               {"c", -4},
                                                                               {"ab", -5},
                                                                               {"bc", -4.5F},
                                                                               {" a", -6},
                                                                               {"abc", -7},
                                                                               {"\xC3\xA9", -8}}) {
    file.tokens.push_back({bytes, score});
  }
  return file;
}
constexpr TokenId space = 259, a = 260, b = 261, c = 262, ab = 263, bc = 264, space_a = 265, abc = 266, e_acute = 267;

TEST(Llama2cTokenizer, MergesTheBestScoreFirst) {
  const auto tokenizer = make_tokenizer(small_file(), "small");
  EXPECT_EQ(tokenizer->vocab_size(), 268);
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_EQ(tokenizer->unknown(), 0);
  EXPECT_EQ(tokenizer->encode(""), Ids({1}));
  EXPECT_EQ(tokenizer->encode("", {.bos = false}), Ids());
  EXPECT_EQ(tokenizer->encode("a"), Ids({1, space_a}));
  EXPECT_EQ(tokenizer->encode("ab", {.bos = false}), Ids({space, ab}));     // ab (-5) before " a" (-6)
  EXPECT_EQ(tokenizer->encode("abc", {.bos = false}), Ids({space_a, bc}));  // bc (-4.5), then " a" before abc (-7)
  EXPECT_EQ(tokenizer->encode("cabc", {.bos = false}), Ids({space, c, abc}));
  EXPECT_EQ(tokenizer->encode("bca", {.bos = false}), Ids({space, bc, a}));
  EXPECT_EQ(tokenizer->encode("c", {.bos = false}), Ids({space, c}));
  EXPECT_EQ(tokenizer->encode("b", {.bos = false}), Ids({space, b}));
}

TEST(Llama2cTokenizer, SpellsCharactersWithoutTokensInBytes) {
  const auto tokenizer = make_tokenizer(small_file(), "small");
  EXPECT_EQ(tokenizer->encode("\xC3\xA9", {.bos = false}), Ids({space, e_acute}));
  EXPECT_EQ(tokenizer->encode("\xE2\x82\xAC", {.bos = false}), Ids({space, 3 + 0xE2, 3 + 0x82, 3 + 0xAC}));
  EXPECT_EQ(tokenizer->encode("\n", {.bos = false}), Ids({space, 3 + 0x0A}));
  // Bytes that are not text are kept.
  const std::string wild("a\xFF\x80\x00\x80\x80\x80\x80z", 9);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(wild)), wild);
}

TEST(Llama2cTokenizer, DecodesWithoutTheLeadingSpace) {
  const auto tokenizer = make_tokenizer(small_file(), "small");
  EXPECT_EQ(tokenizer->decode(Ids{1, space_a, space_a}), "a a");
  EXPECT_EQ(tokenizer->decode(Ids{space_a}), "a");
  EXPECT_EQ(tokenizer->piece(space_a, 1), "a");
  EXPECT_EQ(tokenizer->piece(space_a, a), " a");
  EXPECT_EQ(tokenizer->piece(3 + 0x0A, a), "\n");
  EXPECT_EQ(tokenizer->piece(1, a), "");
  EXPECT_EQ(io::error_of([&] { (void)tokenizer->piece(268, {}); }),
            "llama2.c tokenizer: a token id must be from 0 to 267, got 268");
  EXPECT_NE(io::error_of([&] { (void)tokenizer->decode(Ids{-1}); }), "no error");
}

TEST(Llama2cTokenizer, ControlTokensInTextOnRequestOnly) {
  const auto tokenizer = make_tokenizer(small_file(), "small");
  EXPECT_EQ(tokenizer->encode("a<s>a", {.bos = false, .special = true}), Ids({space_a, 1, space_a}));
  EXPECT_EQ(tokenizer->encode("<s>", {.bos = false}), Ids({space, 3 + '<', 3 + 's', 3 + '>'}));
}

TEST(Llama2cTokenizer, RefusesVocabulariesWithoutBytes) {
  io::Llama2cTokenizer file = small_file();
  file.tokens.resize(258);
  EXPECT_EQ(io::error_of([&] { make_tokenizer(file, "short.bin"); }),
            "short.bin: must have at least 259 tokens (3 control tokens and 256 bytes), got 258");
}

// 200,000 letters with many merges: seconds if the best pair is searched for repeatedly, milliseconds here.
TEST(Llama2cTokenizer, LongTextsTakeLinearTime) {
  const auto tokenizer = make_tokenizer(small_file(), "small");
  std::string text;
  for (int i = 0; i < 70'000; ++i) text += "abc";
  const Ids ids = tokenizer->encode(text, {.bos = false});
  EXPECT_EQ(ids.size(), 70'001u);
  EXPECT_EQ(tokenizer->decode(ids), text);
}

/// run.c's loop: examines every pair, merges the best, repeats. For ASCII characters with tokens.
Ids by_definition(const io::Llama2cTokenizer& file, const std::string& text) {
  std::map<std::string, TokenId> ids;
  for (std::size_t id = 0; id < file.tokens.size(); ++id) ids.emplace(file.tokens[id].bytes, static_cast<TokenId>(id));
  const auto token = [&](TokenId id) { return file.tokens[static_cast<std::size_t>(id)]; };
  Ids symbols = {1, ids.at(" ")};
  for (const char one : text) {
    const auto found = ids.find(std::string(1, one));
    symbols.push_back(found != ids.end() ? found->second : one + 3);
  }
  while (true) {
    float best = -1e10F;
    std::size_t where = 0;
    TokenId merged = -1;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      const auto found = ids.find(token(symbols[i]).bytes + token(symbols[i + 1]).bytes);
      if (found == ids.end() || token(found->second).score <= best) continue;
      best = token(found->second).score;
      where = i;
      merged = found->second;
    }
    if (merged < 0) return symbols;
    symbols[where] = merged;
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

// The text that a trained model told must survive the round trip, in the pieces that the definition gives.
class StoryVocabulary : public ::testing::TestWithParam<testing::StoryModel> {};

TEST_P(StoryVocabulary, RoundTripByDefinition) {
  const auto tokenizer = read_tokenizer(GetParam().tokenizer, 512);
  const std::string text = told_text(GetParam());
  const Ids ids = tokenizer->encode(text);
  EXPECT_EQ(ids[0], 1);
  EXPECT_EQ(tokenizer->decode(ids), text);
  EXPECT_EQ(ids, by_definition(io::read_llama2c_tokenizer(GetParam().tokenizer), text));
  // Each word is one piece in a vocabulary of such stories.
  const Ids start(ids.begin(), ids.begin() + 5);
  EXPECT_EQ(tokenizer->decode(start).substr(0, 16), "Once upon a time");
}

INSTANTIATE_TEST_SUITE_P(Models, StoryVocabulary, ::testing::ValuesIn(testing::story_models()),
                         testing::story_model_name);

}  // namespace
}  // namespace locus::probe
