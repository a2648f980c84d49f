// SPDX-License-Identifier: Apache-2.0
// Reads the vocabulary in a GGUF file, with llama.cpp's keys and defaults.
#include <algorithm>

#include "locus/error.h"
#include "parse/byte_reader.h"
#include "probe/tokenizers/bpe_tokenizer.h"
#include "probe/tokenizers/sentencepiece_tokenizer.h"

namespace locus::probe {
namespace {

const std::string prefix = "tokenizer.ggml.";

/// How llama.cpp splits text before byte-level BPE, by `tokenizer.ggml.pre`.
struct PreTokenizer {
  std::vector<std::string_view> names;
  std::vector<std::string_view> patterns;
  bool whole_words = false;
  bool adds_bos = false;
};

// (?i: ) is written out as in llama.cpp: ASCII letters only.
constexpr std::string_view llama3_pattern =
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view qwen2_pattern =
    R"((?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

const std::vector<PreTokenizer>& pre_tokenizers() {
  static const std::vector<PreTokenizer> all = {
      {{"default"}, {R"([\p{P}\$\+<=>\^~\|]+)", gpt2_pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
      {{"gpt-2", "phi-2", "olmo", "mpt"}, {gpt2_pattern}},
      {{"llama-bpe", "llama3", "llama-v3"}, {llama3_pattern}, true, true},
      {{"qwen2", "deepseek-r1-qwen", "stablelm2"}, {qwen2_pattern}},
      {{"smollm", "starcoder", "refact", "command-r"}, {R"(\p{N})", gpt2_pattern}},
      {{"bloom", "poro-chat", "gpt3-finnish"}, {R"( ?[^(\s|.,!?…。，、।۔،)]+)"}},
  };
  return all;
}

const PreTokenizer& pre_tokenizer(const std::string& pre, const std::string& file) {
  std::string known;
  for (const PreTokenizer& one : pre_tokenizers()) {
    if (std::find(one.names.begin(), one.names.end(), pre) != one.names.end()) return one;
    for (const std::string_view name : one.names) known += (known.empty() ? "" : ", ") + std::string(name);
  }
  fail(file, ": ", prefix, "pre ", io::shown(pre), " is not supported; known: ", known);
}

Vocabulary read_vocabulary(const io::GgufFile& file) {
  const auto what = [&](const char* key) { return file.name() + ": " + prefix + key; };
  const io::GgufValue* tokens = file.find(prefix + "tokens");
  require(tokens != nullptr, file.name(), ": has no tokenizer: ", prefix, "tokens is missing");
  Vocabulary vocabulary;
  vocabulary.spellings = tokens->texts(what("tokens"));
  require(!vocabulary.spellings.empty(), what("tokens"), " must not be empty");
  vocabulary.roles.assign(vocabulary.spellings.size(), TokenRole::normal);
  if (const io::GgufValue* types = file.find(prefix + "token_type")) {
    const auto numbers = types->integers(what("token_type"));
    require(numbers.size() == vocabulary.spellings.size(), what("token_type"), " must have one entry per token (",
            vocabulary.spellings.size(), "), got ", numbers.size());
    for (std::size_t id = 0; id < numbers.size(); ++id) {
      require(numbers[id] >= 0 && numbers[id] <= 6, what("token_type"), " must be from 0 to 6, got ", numbers[id]);
      if (numbers[id] != 0) vocabulary.roles[id] = static_cast<TokenRole>(numbers[id]);
    }
  }
  return vocabulary;
}

std::optional<TokenId> token_of(const io::GgufFile& file, const std::string& key, std::size_t tokens,
                                std::optional<TokenId> otherwise) {
  const auto value = file.integer(prefix + key);
  if (!value) return otherwise;
  require(*value >= 0 && std::cmp_less(*value, tokens), file.name(), ": ", prefix, key, " must be from 0 to ",
          tokens - 1, ", got ", *value);
  return static_cast<TokenId>(*value);
}

TokenizerFacts read_facts(const io::GgufFile& file, std::size_t tokens, bool sentencepiece) {
  TokenizerFacts facts;
  const auto default_id = [&](TokenId id) {
    return sentencepiece && std::cmp_less(id, tokens) ? std::optional(id) : std::nullopt;
  };
  facts.bos = token_of(file, "bos_token_id", tokens, default_id(1));
  facts.eos = token_of(file, "eos_token_id", tokens, default_id(2));
  facts.unknown = token_of(file, "unknown_token_id", tokens, default_id(0));
  return facts;
}

std::unique_ptr<Tokenizer> read_sentencepiece(const io::GgufFile& file) {
  SentencePieceParts parts;
  parts.vocabulary = read_vocabulary(file);
  const io::GgufValue* scores = file.find(prefix + "scores");
  require(scores != nullptr, file.name(), ": ", prefix, "scores is missing, which the model \"llama\" needs");
  for (const double score : scores->reals(file.name() + ": " + prefix + "scores")) {
    parts.scores.push_back(static_cast<float>(score));
  }
  parts.facts = read_facts(file, parts.vocabulary.spellings.size(), true);
  parts.facts.kind = "GGUF tokenizer llama";
  parts.facts.adds_bos = file.boolean(prefix + "add_bos_token").value_or(true);
  parts.space_prefix = file.boolean(prefix + "add_space_prefix").value_or(true);
  return make_sentencepiece(std::move(parts), file.name());
}

std::unique_ptr<Tokenizer> read_byte_level(const io::GgufFile& file) {
  BpeParts parts;
  const std::string pre = file.text(prefix + "pre").value_or("default");  // as llama.cpp reads old files
  const PreTokenizer& pre_tokens = pre_tokenizer(pre, file.name());
  require(!file.boolean(prefix + "add_space_prefix").value_or(false), file.name(), ": ", prefix,
          "add_space_prefix is not supported for the model \"gpt2\"");
  for (const std::string_view pattern : pre_tokens.patterns) {
    parts.steps.push_back({SplitPattern(pattern, file.name() + ": " + pre)});
  }
  parts.vocabulary = read_vocabulary(file);
  parts.added = parts.vocabulary.added();
  const io::GgufValue* merges = file.find(prefix + "merges");
  require(merges != nullptr, file.name(), ": ", prefix, "merges is missing, which the model \"gpt2\" needs");
  for (const std::string& merge : merges->texts(file.name() + ": " + prefix + "merges")) {
    const std::size_t space = merge.find(' ', 1);
    require(space != std::string::npos && space + 1 < merge.size(), file.name(), ": ", prefix,
            "merges must hold two tokens separated by a space, got ", [&] { return io::shown(merge); });
    parts.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  parts.facts = read_facts(file, parts.vocabulary.spellings.size(), false);
  parts.facts.kind = "GGUF tokenizer gpt2 (" + pre + ")";
  parts.facts.adds_bos = file.boolean(prefix + "add_bos_token").value_or(pre_tokens.adds_bos);
  parts.whole_words = pre_tokens.whole_words;
  return make_bpe(std::move(parts), file.name());
}

}  // namespace

std::unique_ptr<Tokenizer> make_tokenizer(const io::GgufFile& file) {
  const auto model = file.text(prefix + "model");
  require(model.has_value(), file.name(), ": has no tokenizer: ", prefix, "model is missing");
  if (*model == "llama") return read_sentencepiece(file);
  if (*model == "gpt2") return read_byte_level(file);
  if (*model == "characters") return make_character_tokenizer(read_vocabulary(file).spellings, file.name());
  if (*model == "bytes" || *model == "none") return make_named_tokenizer(*model, file.name());
  fail(file.name(), ": ", prefix, "model ", io::shown(*model), " is not supported; known: llama, gpt2");
}

}  // namespace locus::probe
