// SPDX-License-Identifier: Apache-2.0
// Vocabularies with merges of their own tokens, split patterns from a grammar, and all that may surround them: in
// tokenizer.json, in GGUF and in the format of llama2.c.
#include "checks.h"
#include "made_gguf.h"
#include "made_json.h"
#include "made_llama2c.h"

namespace {

using namespace locus::fuzz;

/// A split pattern: sequences of classes with counts, alternatives, groups and a look ahead.
std::string made_pattern(Choices& choices, int depth = 0) {
  static constexpr std::string_view atoms[] = {"\\p{L}",      "\\p{N}", "\\s",      "[^\\s\\p{L}\\p{N}]",
                                               "'",           " ",      "[a-z]",    "\\S",
                                               "[\\r\\n]",    ".",      "\\p{Lu}",  "[0-9]",
                                               "(?i:",        "(?:",    "(?!",      "(",
                                               "[^\\r\\n]",   "\\p{M}", "\\p{Han}", "\\x{41}",
                                               "[\\p{P}\\$]", "\\d"};
  static constexpr std::string_view counts[] = {"", "+", "?", "*", "{1,3}", "{2}", "+?", "++", "{0,65536}", "{3,1}"};
  std::string pattern;
  for (std::size_t i = 1 + choices.below(6); i > 0; --i) {
    const std::string_view atom = choices.of(atoms);
    pattern += atom;
    if (atom.starts_with('('))
      pattern += (depth < 4 ? made_pattern(choices, depth + 1) : "a") + (choices.fault() ? "" : ")");
    pattern += choices.of(counts);
    if (choices.below(4) == 3) pattern += "|";
  }
  return pattern;
}

std::vector<std::string> made_vocabulary(Choices& choices) {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>", "a", "b", " ", "\xE2\x96\x81", "\xC4\xA0"};
  for (std::size_t i = choices.below(16); i > 0; --i) {
    const std::size_t last = tokens.size();
    std::string joined = tokens[choices.below(last)] + tokens[choices.below(last)];
    tokens.push_back(choices.flag() ? choices.text() : joined.substr(0, 64));
  }
  return tokens;
}

std::string made_merge(const std::vector<std::string>& tokens, Choices& choices) {
  return tokens[choices.below(tokens.size())] + " " + tokens[choices.below(tokens.size())];
}

Json made_normalizer(Choices& choices) {
  static constexpr std::string_view types[] = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase"};
  if (choices.flag()) return {{"type", choices.of(types)}};
  return {{"type", "Sequence"},
          {"normalizers",
           {{{"type", "Prepend"}, {"prepend", "\xE2\x96\x81"}},
            {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "\xE2\x96\x81"}}}}};
}

Json made_pre_tokenizer(Choices& choices) {
  switch (choices.below(5)) {
    case 0:
      return {{"type", "ByteLevel"}, {"add_prefix_space", choices.flag()}, {"use_regex", choices.flag()}};
    case 1:
      return {{"type", "Digits"}, {"individual_digits", choices.flag()}};
    case 2:
      return {{"type", "Metaspace"},
              {"replacement", "\xE2\x96\x81"},
              {"prepend_scheme", choices.flag() ? "first" : "always"}};
    case 3:
      return {{"type", "Split"},
              {"pattern", {{choices.flag() ? "String" : "Regex", made_pattern(choices)}}},
              {"behavior", choices.flag() ? "Removed" : "Isolated"},
              {"invert", choices.flag()}};
    default:
      return {{"type", "Sequence"},
              {"pretokenizers",
               {{{"type", "Split"}, {"pattern", {{"Regex", made_pattern(choices)}}}, {"behavior", "Isolated"}},
                {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", choices.flag()}}}}};
  }
}

std::string made_tokenizer_json(Choices& choices) {
  const std::vector<std::string> tokens = made_vocabulary(choices);
  Json vocabulary = Json::object();
  for (std::size_t id = 0; id < tokens.size(); ++id) vocabulary[tokens[id]] = id;
  Json merges = Json::array();
  for (std::size_t i = choices.below(12); i > 0; --i) merges.push_back(made_merge(tokens, choices));
  Json root = {{"added_tokens", {{{"id", 1}, {"content", "<s>"}, {"special", true}, {"lstrip", choices.flag()}}}},
               {"normalizer", choices.flag() ? made_normalizer(choices) : Json()},
               {"pre_tokenizer", choices.flag() ? Json() : made_pre_tokenizer(choices)},
               {"decoder", choices.flag() ? Json{{"type", "ByteFallback"}} : Json()},
               {"post_processor", Json()},
               {"model",
                {{"type", "BPE"},
                 {"unk_token", choices.flag() ? Json("<unk>") : Json()},
                 {"byte_fallback", choices.flag()},
                 {"ignore_merges", choices.flag()},
                 {"fuse_unk", choices.flag()},
                 {"vocab", vocabulary},
                 {"merges", merges}}}};
  if (choices.flag()) {
    root["post_processor"] = {{"type", "TemplateProcessing"}, {"single", {{{"SpecialToken", {{"id", "<s>"}}}}}}};
  }
  if (choices.below(4) == 3) vary(root, choices);
  return text_of(root, choices);
}

std::string made_tokenizer_gguf(Choices& choices) {
  static constexpr std::string_view models[] = {"llama", "gpt2", "characters", "bytes", "none", "bert"};
  static constexpr std::string_view pres[] = {"default", "gpt-2", "llama-bpe", "qwen2", "smollm", "bloom", "unknown"};
  static constexpr std::string_view numbers[] = {"bos_token_id",  "eos_token_id",     "unknown_token_id",
                                                 "add_bos_token", "add_space_prefix", "padding_token_id"};
  const std::vector<std::string> tokens = made_vocabulary(choices);
  MadeGguf made(choices);
  made.text_value("general.architecture", "llama");
  made.text_value("tokenizer.ggml.model", choices.of(models));
  if (choices.flag()) made.text_value("tokenizer.ggml.pre", choices.of(pres));
  made.texts_value("tokenizer.ggml.tokens", tokens);
  std::vector<std::string> merges;
  for (std::size_t i = choices.below(12); i > 0; --i) merges.push_back(made_merge(tokens, choices));
  if (!choices.fault()) made.texts_value("tokenizer.ggml.merges", merges);
  if (choices.flag()) made.numbers_value("tokenizer.ggml.scores", tokens.size());
  if (choices.flag()) made.numbers_value("tokenizer.ggml.token_type", tokens.size());
  for (std::size_t i = choices.below(4); i > 0; --i) {
    made.number_value("tokenizer.ggml." + std::string(choices.of(numbers)));
  }
  return made.file();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(data, size);
  switch (choices.below(4)) {
    case 1: {
      const std::string file = made_tokenizer_gguf(choices);
      check_gguf_tokenizer(bytes_of(file));
      return 0;
    }
    case 2: {
      const std::string file = made_llama2c_tokenizer(choices);
      check_tokenizer(bytes_of(file));
      return 0;
    }
    default: {
      const std::string file = made_tokenizer_json(choices);
      check_tokenizer(bytes_of(file));
      return 0;
    }
  }
}
