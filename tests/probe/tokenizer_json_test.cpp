// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/bytes.h"
#include "probe/tokenizers/byte_tokens.h"
#include "probe/tokenizers/tokenizer.h"

namespace locus::probe {
namespace {

using Ids = std::vector<TokenId>;
using Json = nlohmann::json;

const std::string llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// The 256 bytes, then 256 he 257 ll 258 hell 259 hello 260 " h" 261 12, then the added tokens.
Json byte_level_json() {
  Json vocab;
  for (int b = 0; b < 256; ++b) vocab[to_byte_alphabet(std::string(1, static_cast<char>(b)))] = b;
  TokenId next = 256;
  for (const std::string& token : {std::string("he"), std::string("ll"), std::string("hell"), std::string("hello"),
                                   to_byte_alphabet(" h"), std::string("12")}) {
    vocab[token] = next++;
  }
  const std::string space = to_byte_alphabet(" ");
  return {{"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"h e", "l l", "he ll", space + " h", "1 2"}}}},
          {"added_tokens",
           {{{"id", 262}, {"content", "<|begin|>"}, {"special", true}},
            {{"id", 263}, {"content", "<|pad|>"}, {"special", true}, {"lstrip", true}, {"rstrip", true}},
            {{"id", 264}, {"content", "   "}, {"special", false}}}},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
          {"decoder", {{"type", "ByteLevel"}}}};
}

std::unique_ptr<Tokenizer> made(const Json& json, const std::string& config = "") {
  return parse_tokenizer_json(json.dump(), "some.json", config);
}

TEST(TokenizerJson, Gpt2) {
  const auto tokenizer = made(byte_level_json());
  EXPECT_EQ(tokenizer->vocab_size(), 265);
  EXPECT_FALSE(tokenizer->bos());
  // The space goes with the next word; there "h e" (rank 0) is merged before " h" (rank 3).
  EXPECT_EQ(tokenizer->encode("hello he", {.bos = true}), Ids({258, 'o', ' ', 256}));
  EXPECT_EQ(tokenizer->encode("a ha"), Ids({'a', 260, 'a'}));
}

TEST(TokenizerJson, ReadsMergesAsPairsToo) {
  Json json = byte_level_json();
  json["model"]["merges"] = Json::parse(R"([["h", "e"], ["l", "l"], ["he", "ll"]])");
  EXPECT_EQ(made(json)->encode("hell"), Ids({258}));
}

TEST(TokenizerJson, AddedTokens) {
  const auto tokenizer = made(byte_level_json());
  EXPECT_EQ(tokenizer->encode("a<|begin|>", {}).size(), 10u);
  EXPECT_EQ(tokenizer->encode("a<|begin|>b", {.special = true}), Ids({'a', 262, 'b'}));
  EXPECT_EQ(tokenizer->encode("a <|pad|> \n b", {.special = true}), Ids({'a', 263, 'b'}));
  EXPECT_EQ(tokenizer->encode("a   b"), Ids({'a', 264, 'b'}));  // not special: always searched for
  EXPECT_EQ(tokenizer->decode(Ids{'a', 262, 264, 'b'}), "a   b");
}

// Llama 3: a Split with its pattern, then bytes without GPT-2's pattern; whole words; the beginning token by a
// template.
TEST(TokenizerJson, Llama3) {
  Json json = byte_level_json();
  json["model"]["ignore_merges"] = true;
  json["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Split"}, {"pattern", {{"Regex", llama3}}}, {"behavior", "Isolated"}, {"invert", false}},
        {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  json["post_processor"] = {
      {"type", "Sequence"},
      {"processors",
       {{{"type", "ByteLevel"}},
        {{"type", "TemplateProcessing"},
         {"single", {{{"SpecialToken", {{"id", "<|begin|>"}}}}, {{"Sequence", {{"id", "A"}}}}}}}}}};
  const auto tokenizer = made(json, R"({"eos_token": {"content": "<|pad|>"}})");
  EXPECT_EQ(tokenizer->bos(), 262);
  EXPECT_EQ(tokenizer->eos(), 263);
  EXPECT_TRUE(tokenizer->facts().adds_bos);
  EXPECT_EQ(tokenizer->encode("hello"), Ids({262, 259}));
  EXPECT_EQ(tokenizer->encode("1212", {.bos = false}), Ids({261, '1', '2'}));  // 121|2
}

TEST(TokenizerJson, Normalizes) {
  const auto ids = [](const std::string& form, const std::string& text) {
    Json json = byte_level_json();
    if (!form.empty()) json["normalizer"] = {{"type", form}};
    return made(json)->encode(text);
  };
  const std::string composed = "caf\xC3\xA9", apart = "cafe\xCC\x81", ligature = "\xEF\xAC\x81";
  EXPECT_NE(ids("", composed), ids("", apart));
  EXPECT_EQ(ids("NFC", apart), ids("", composed));
  EXPECT_EQ(ids("NFC", ligature), ids("", ligature));
  EXPECT_EQ(ids("NFD", composed), ids("", apart));
  EXPECT_EQ(ids("NFKC", apart + ligature), ids("", composed + "fi"));
  EXPECT_EQ(ids("NFKD", composed + ligature), ids("", apart + "fi"));
}

TEST(TokenizerJson, RefusesFormsAfterOtherNormalizers) {
  Json json = byte_level_json();
  json["normalizer"] = {{"type", "Sequence"},
                        {"normalizers", {{{"type", "Prepend"}, {"prepend", "_"}}, {{"type", "NFC"}}}}};
  EXPECT_NE(io::error_of([&] { (void)made(json); }).find("must come first"), std::string::npos);
}

TEST(TokenizerJson, PrefixSpaceAndDigits) {
  Json json = byte_level_json();
  json["pre_tokenizer"]["add_prefix_space"] = true;
  EXPECT_EQ(made(json)->encode("ha"), Ids({260, 'a'}));
  EXPECT_EQ(made(json)->encode(" ha"), Ids({260, 'a'}));
  json["pre_tokenizer"] = {
      {"type", "Sequence"},
      {"pretokenizers",
       {{{"type", "Digits"}, {"individual_digits", true}}, {{"type", "ByteLevel"}, {"add_prefix_space", false}}}}};
  EXPECT_EQ(made(json)->encode("12"), Ids({'1', '2'}));
}

/// Llama 2's form: 0 <unk> 1 <s> 2 </s>, 3 + b bytes, then 259 _ 260 a 261 b 262 _a 263 ab
Json llama2_json() {
  const std::string sp(shown_space);
  Json vocab = {{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}, {sp, 259}, {"a", 260}, {"b", 261}, {sp + "a", 262}, {"ab", 263}};
  for (int b = 0; b < 256; ++b) vocab[byte_token_spelling(static_cast<unsigned char>(b))] = 3 + b;
  return {{"model",
           {{"type", "BPE"},
            {"vocab", vocab},
            {"merges", {"a b", sp + " a"}},
            {"unk_token", "<unk>"},
            {"byte_fallback", true},
            {"fuse_unk", true}}},
          {"added_tokens",
           {{{"id", 0}, {"content", "<unk>"}, {"special", true}},
            {{"id", 1}, {"content", "<s>"}, {"special", true}},
            {{"id", 2}, {"content", "</s>"}, {"special", true}}}},
          {"normalizer",
           {{"type", "Sequence"},
            {"normalizers",
             {{{"type", "Prepend"}, {"prepend", sp}},
              {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", sp}}}}}},
          {"pre_tokenizer", nullptr},
          {"post_processor",
           {{"type", "TemplateProcessing"},
            {"single", {{{"SpecialToken", {{"id", "<s>"}}}}, {{"Sequence", {{"id", "A"}}}}}}}},
          {"decoder",
           {{"type", "Sequence"},
            {"decoders",
             {{{"type", "Replace"}, {"pattern", {{"String", sp}}}, {"content", " "}},
              {{"type", "ByteFallback"}},
              {{"type", "Fuse"}},
              {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}}}};
}

TEST(TokenizerJson, Llama2) {
  const auto tokenizer = made(llama2_json());
  EXPECT_EQ(tokenizer->bos(), 1);
  EXPECT_EQ(tokenizer->unknown(), 0);
  EXPECT_EQ(tokenizer->encode("a"), Ids({1, 262}));
  EXPECT_EQ(tokenizer->encode("ab a", {.bos = false}), Ids({259, 263, 262}));  // a b has the first rank
  EXPECT_EQ(tokenizer->encode("\xE2\x82\xAC", {.bos = false}), Ids({259, 3 + 0xE2, 3 + 0x82, 3 + 0xAC}));
  EXPECT_EQ(tokenizer->encode("a</s>a", {.special = true}), Ids({1, 262, 2, 262}));
  EXPECT_EQ(tokenizer->decode(Ids{1, 262, 263, 3 + 0x0A}), "aab\n");
  const std::string wild("  a\xFF\0 b", 8);
  EXPECT_EQ(tokenizer->decode(tokenizer->encode(wild)), wild);
}

TEST(TokenizerJson, FusesUnknownTokens) {
  Json json = llama2_json();
  json["model"]["byte_fallback"] = false;
  EXPECT_EQ(made(json)->encode("xyza", {.bos = false}), Ids({259, 0, 260}));
  json["model"]["fuse_unk"] = false;
  EXPECT_EQ(made(json)->encode("xyza", {.bos = false}), Ids({259, 0, 0, 0, 260}));
  json["model"].erase("unk_token");
  EXPECT_NE(io::error_of([&] { (void)made(json)->encode("x"); }).find("no unknown token"), std::string::npos);
}

TEST(TokenizerJson, Metaspace) {
  Json json = llama2_json();
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = {
      {"type", "Metaspace"}, {"replacement", shown_space}, {"prepend_scheme", "first"}, {"split", false}};
  const auto first = made(json);
  EXPECT_EQ(first->encode("a</s>a", {.bos = false, .special = true}), Ids({262, 2, 260}));  // only the start
  EXPECT_EQ(first->encode(" a", {.bos = false}), Ids({262}));                               // has its space already
  json["pre_tokenizer"]["prepend_scheme"] = "never";
  json["pre_tokenizer"]["split"] = true;
  EXPECT_EQ(made(json)->encode("a a", {.bos = false}), Ids({260, 262}));
}

TEST(TokenizerJson, RefusesByName) {
  const auto refused = [](const char* pointer, const Json& value, const std::string& part) {
    Json json = byte_level_json();
    json[Json::json_pointer(pointer)] = value;
    const std::string message = io::error_of([&] { made(json); });
    EXPECT_TRUE(message.starts_with("some.json: ")) << message;
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  refused("/model/type", "Unigram", "a model of type 'Unigram' is not supported");
  refused("/model/dropout", 0.1, "dropout");
  refused("/model/end_of_word_suffix", "</w>", "end_of_word_suffix is not supported");
  refused("/model/vocab", Json::array(), "vocab must be an object");
  refused("/model/vocab", {{"a", -1}}, "a token id must be from 0");
  refused("/model/vocab", {{"a", 10000000}}, "is too large for a vocabulary of 1");
  refused("/model/vocab", {{"a", 0}, {"b", 0}}, "the id 0 belongs to");
  refused("/model/merges", {"h"}, "a merge must be two tokens");
  refused("/model/merges", {3}, "a merge must be a string");
  refused("/model/merges", {"q z"}, "a merge has the token 'qz', which is not in the vocabulary");
  refused("/model/unk_token", "<none>", "unk_token '<none>' is not in the vocabulary");
  refused("/normalizer", {{"type", "Lowercase"}}, "a normalizer of type 'Lowercase' is not supported");
  refused("/pre_tokenizer", {{"type", "Whitespace"}}, "a pre_tokenizer of type 'Whitespace' is not supported");
  refused("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", "\\p{Lu}+"}}}, {"behavior", "Isolated"}},
          "got 'Lu'");
  refused("/pre_tokenizer", {{"type", "Split"}, {"pattern", {{"String", " "}}}, {"behavior", "MergedWithNext"}},
          "a Split of behavior 'MergedWithNext' is not supported");
  refused("/decoder", {{"type", "WordPiece"}}, "a decoder of type 'WordPiece' is not supported");
  refused("/post_processor", {{"type", "BertProcessing"}}, "a post_processor of type 'BertProcessing'");
  refused("/added_tokens/0/single_word", true, "single_word is not supported");
  refused("/added_tokens/0/id", 123456, "too large");
  for (const char* text : {"", "[]", "{", "{\"model\": 3}", "{\"model\": {\"type\": \"BPE\"}}"}) {
    EXPECT_TRUE(io::error_of([&] { parse_tokenizer_json(text, "some.json"); }).starts_with("some.json: ")) << text;
  }
}

TEST(TokenizerJson, FoldersAreReadWithTheirConfig) {
  const auto folder = std::filesystem::temp_directory_path() / ("tokens-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  EXPECT_NE(io::error_of([&] { read_tokenizer(folder); }).find("must contain tokenizer.json"), std::string::npos);
  std::ofstream(folder / "tokenizer.json") << byte_level_json().dump();
  std::ofstream(folder / "tokenizer_config.json") << R"({"bos_token": "<|begin|>", "add_bos_token": false})";
  const auto tokenizer = read_tokenizer(folder, 300);
  EXPECT_EQ(tokenizer->bos(), 262);
  EXPECT_EQ(tokenizer->encode("a"), Ids({'a'}));
  EXPECT_EQ(tokenizer->encode("a", {.bos = true}), Ids({262, 'a'}));
  EXPECT_NE(io::error_of([&] { read_tokenizer(folder, 200); }).find("has 265 tokens, more than the model's 200"),
            std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace locus::probe
