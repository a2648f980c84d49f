// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "io/bytes.h"
#include "locus/io/gguf.h"
#include "probe/tokenizers/byte_tokens.h"
#include "probe/tokenizers/tokenizer.h"

namespace locus::probe {
namespace {

using Ids = std::vector<TokenId>;

struct Words {
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<std::int32_t> types;
  void add(const std::string& token, float score = 0, std::int32_t type = 1) {
    tokens.push_back(token);
    scores.push_back(score);
    types.push_back(type);
  }
};

class File {
 public:
  File& set(const std::string& key, io::GgufValue value) {
    metadata_.push_back({"tokenizer.ggml." + key, std::move(value)});
    return *this;
  }
  File& text(const std::string& key, std::string_view value) { return set(key, io::GgufValue::of(value)); }
  File& flag(const std::string& key, bool value) { return set(key, io::GgufValue::of(value)); }
  File& integer(const std::string& key, std::uint32_t value) { return set(key, io::GgufValue::of(value)); }
  File& texts(const std::string& key, const std::vector<std::string>& values) {
    return set(key, io::GgufValue::of_array(std::span(values)));
  }
  File& words(const Words& words) {
    texts("tokens", words.tokens);
    set("scores", io::GgufValue::of_array(std::span(words.scores)));
    return set("token_type", io::GgufValue::of_array(std::span(words.types)));
  }
  std::unique_ptr<Tokenizer> made() const {
    const auto path = std::filesystem::temp_directory_path() / ("tokens-" + std::to_string(getpid()) + ".gguf");
    io::write_gguf(path, metadata_, {});
    const auto remove = [&] { std::filesystem::remove(path); };
    try {
      auto tokenizer = read_tokenizer(path);
      remove();
      return tokenizer;
    } catch (...) {
      remove();
      throw;
    }
  }
  std::string error() const {
    const std::string message = io::error_of([&] { (void)made(); });
    return message.substr(std::min(message.find(": ") + 2, message.size()));
  }

 private:
  std::vector<io::GgufEntry> metadata_;
};

const std::string sp = "\xE2\x96\x81";

/// 0 <unk> 1 <s> 2 </s>, 3 + b bytes, then: 259 _ 260 a 261 b 262 _a 263 ab 264 _ab 265 <tool> (user defined)
Words small_words() {
  Words words;
  words.add("<unk>", 0, 2);
  words.add("<s>", 0, 3);
  words.add("</s>", 0, 3);
  for (int b = 0; b < 256; ++b) words.add(byte_token_spelling(static_cast<unsigned char>(b)), 0, 6);
  words.add(sp, -1);
  words.add("a", -2);
  words.add("b", -3);
  words.add(sp + "a", -4);
  words.add("ab", -5);
  words.add(sp + "ab", -6);
  words.add("<tool>", 0, 4);
  return words;
}

File sentencepiece() {
  File file;
  file.text("model", "llama").words(small_words());
  return file;
}

TEST(GgufTokenizer, SentencePieceMergesByScore) {
  const auto tokenizer = sentencepiece().made();
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_EQ(tokenizer->eos(), 2);
  EXPECT_EQ(tokenizer->unknown(), 0);
  EXPECT_TRUE(tokenizer->facts().adds_bos);
  EXPECT_EQ(tokenizer->encode("a"), Ids({1, 262}));
  EXPECT_EQ(tokenizer->encode("", {.bos = false}), Ids());
  EXPECT_EQ(tokenizer->encode("ab ab", {.bos = false}), Ids({264, 264}));  // _a (-4) before ab (-5), then _a + b
  EXPECT_EQ(tokenizer->encode("bab", {.bos = false}), Ids({259, 261, 263}));
  EXPECT_EQ(tokenizer->encode("a\xC3\xA9", {.bos = false}), Ids({262, 3 + 0xC3, 3 + 0xA9}));
  EXPECT_EQ(tokenizer->decode(Ids{1, 264, 264, 3 + 0x0A}), "ab ab\n");
  EXPECT_EQ(tokenizer->piece(264, 260), " ab");
  const std::string wild("  a\xFF b\0 ", 8);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(wild)), wild);
}

TEST(GgufTokenizer, SentencePieceWithoutSpacePrefix) {
  const auto tokenizer = sentencepiece().flag("add_space_prefix", false).flag("add_bos_token", false).made();
  EXPECT_EQ(tokenizer->encode("ab a"), Ids({263, 262}));
  EXPECT_EQ(tokenizer->decode(Ids{262, 260}), " aa");
}

TEST(GgufTokenizer, ControlTokensInTextOnRequestOnly) {
  const auto tokenizer = sentencepiece().made();
  const auto byte = [](char c) { return 3 + static_cast<TokenId>(c); };
  EXPECT_EQ(tokenizer->encode("</s>", {.bos = false}), Ids({259, byte('<'), byte('/'), byte('s'), byte('>')}));
  EXPECT_EQ(tokenizer->encode("a</s>a", {.bos = false, .special = true}), Ids({262, 2, 262}));
  EXPECT_EQ(tokenizer->encode("a<tool>a", {.bos = false}), Ids({262, 265, 262}));  // user defined: always
  EXPECT_EQ(tokenizer->decode(Ids{262, 2, 265}), "a<tool>");
}

TEST(GgufTokenizer, SentencePieceWithoutBytesUsesTheUnknownToken) {
  Words words;
  words.add("<unk>", 0, 2);
  words.add("<s>", 0, 3);
  words.add("</s>", 0, 3);
  words.add(sp, -1);
  EXPECT_EQ(File().text("model", "llama").words(words).made()->encode("x", {.bos = false}), Ids({3, 0}));
}

/// GPT-2's alphabet of 256 in the order of the bytes, then merges: 256 he 257 ll 258 hell 259 _w 260 hello 261 <|end|>
File byte_level(const std::string& pre) {
  Words words;
  for (int b = 0; b < 256; ++b) words.add(to_byte_alphabet(std::string(1, static_cast<char>(b))));
  const std::string space = to_byte_alphabet(" ");
  for (const std::string& token :
       {std::string("he"), std::string("ll"), std::string("hell"), space + "w", std::string("hello")}) {
    words.add(token);
  }
  words.add("<|end|>", 0, 3);
  File file;
  file.text("model", "gpt2").words(words).texts("merges", {"h e", "l l", "he ll", space + " w"});
  file.integer("eos_token_id", 261).integer("bos_token_id", 261);
  if (!pre.empty()) file.text("pre", pre);
  return file;
}

TEST(GgufTokenizer, ByteLevelMergesByRank) {
  const auto tokenizer = byte_level("gpt-2").made();
  EXPECT_EQ(tokenizer->eos(), 261);
  EXPECT_FALSE(tokenizer->unknown());
  EXPECT_FALSE(tokenizer->facts().adds_bos);
  EXPECT_EQ(tokenizer->encode("hello world"), Ids({258, 'o', 259, 'o', 'r', 'l', 'd'}));
  EXPECT_EQ(tokenizer->encode("a<|end|>"), Ids({'a', '<', '|', 'e', 'n', 'd', '|', '>'}));
  EXPECT_EQ(tokenizer->encode("a<|end|>hell", {.special = true}), Ids({'a', 261, 258}));
  EXPECT_EQ(tokenizer->encode("he", {.bos = true}), Ids({261, 256}));
  std::string all;
  for (int b = 0; b < 256; ++b) all.push_back(static_cast<char>(b));
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(all)), all);
  EXPECT_EQ(tokenizer->decode(Ids{259, 261, 259}), " w w");  // no space is removed
}

// "hello" is a token without a merge that leads to it: Llama 3 takes whole words that are tokens.
TEST(GgufTokenizer, LlamaBpeTakesWholeWords) {
  EXPECT_EQ(byte_level("llama-bpe").made()->encode("hello", {.bos = false}), Ids({260}));
  EXPECT_TRUE(byte_level("llama-bpe").made()->facts().adds_bos);
  EXPECT_EQ(byte_level("qwen2").made()->encode("hello"), Ids({258, 'o'}));
}

// No merge crosses a split: the vocabulary has "12", and the split decides whether 1 and 2 are neighbours.
TEST(GgufTokenizer, PreTokenizersCutDifferently) {
  const auto with_digits = [](const std::string& pre) {
    Words words;
    for (int b = 0; b < 256; ++b) words.add(to_byte_alphabet(std::string(1, static_cast<char>(b))));
    words.add("12");
    words.add("$.");
    words.add("a.");
    File file;
    file.text("model", "gpt2").words(words).texts("merges", {"1 2", "$ .", "a ."});
    if (!pre.empty()) file.text("pre", pre);
    return file.made();
  };
  EXPECT_EQ(with_digits("gpt-2")->encode("1212"), Ids({256, 256}));
  EXPECT_EQ(with_digits("llama-bpe")->encode("1212", {.bos = false}), Ids({256, '1', '2'}));  // 121|2
  EXPECT_EQ(with_digits("qwen2")->encode("1212"), Ids({'1', '2', '1', '2'}));
  EXPECT_EQ(with_digits("smollm")->encode("1212"), Ids({'1', '2', '1', '2'}));
  EXPECT_EQ(with_digits("default")->encode("1212"), Ids({256, '1', '2'}));
  EXPECT_EQ(with_digits("")->encode("$.1"), Ids({257, '1'}));  // absent: the default
  EXPECT_EQ(with_digits("gpt-2")->encode("a."), Ids({'a', '.'}));
  EXPECT_EQ(with_digits("bloom")->encode("a1"), Ids({'a', '1'}));
}

TEST(GgufTokenizer, RefusesByName) {
  EXPECT_EQ(File().error(), "has no tokenizer: tokenizer.ggml.model is missing");
  EXPECT_EQ(File().text("model", "bert").error(), "tokenizer.ggml.model 'bert' is not supported; known: llama, gpt2");
  EXPECT_TRUE(byte_level("tekken").error().starts_with("tokenizer.ggml.pre 'tekken' is not supported; known: default"));
  EXPECT_EQ(File().text("model", "llama").error(), "has no tokenizer: tokenizer.ggml.tokens is missing");
  EXPECT_EQ(File().text("model", "llama").texts("tokens", {"a"}).error(),
            "tokenizer.ggml.scores is missing, which the model \"llama\" needs");
  EXPECT_EQ(File().text("model", "gpt2").texts("tokens", {"a"}).error(),
            "tokenizer.ggml.merges is missing, which the model \"gpt2\" needs");
  EXPECT_EQ(File().text("model", "gpt2").texts("tokens", {"a"}).texts("merges", {"a b"}).error(),
            "a merge has the token 'ab', which is not in the vocabulary");
  EXPECT_EQ(File().text("model", "gpt2").texts("tokens", {"a"}).texts("merges", {"ab"}).error(),
            "tokenizer.ggml.merges must hold two tokens separated by a space, got 'ab'");
  EXPECT_EQ(byte_level("gpt-2").integer("unknown_token_id", 262).error(),
            "tokenizer.ggml.unknown_token_id must be from 0 to 261, got 262");
  const std::vector<float> one_score = {0};
  EXPECT_EQ(File()
                .text("model", "llama")
                .texts("tokens", {"a", "b"})
                .set("scores", io::GgufValue::of_array(std::span(one_score)))
                .error(),
            "must have one score per token (2), got 1");
}

}  // namespace
}  // namespace locus::probe
