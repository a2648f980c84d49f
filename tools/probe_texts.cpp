// SPDX-License-Identifier: Apache-2.0
#include "probe_texts.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "locus/error.h"
#include "position_list.h"

namespace locus::tools {
namespace {

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), path, ": cannot be opened");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  require(!file.bad(), path, ": cannot be read");
  return text;
}

/// Reads a list of numbers, or an object with one under "ids".
std::vector<probe::Token> ids_of(const std::string& path) {
  Json json;
  try {
    json = Json::parse(contents_of(path));
  } catch (const Json::exception&) {
    fail(path, ": not JSON");
  }
  const Json& list = json.is_object() && json.contains("ids") ? json["ids"] : json;
  require(list.is_array(), path, ": must be a list of token ids, or an object with one under \"ids\"");
  std::vector<probe::Token> ids;
  for (const Json& id : list) {
    require(id.is_number_integer() && id >= 0 && id <= 0x7FFFFFFF, path,
            ": a token id must be from 0 to 2^31 - 1, got ", id);
    ids.push_back(id.get<probe::Token>());
  }
  return ids;
}

/// Ids need a tokenizer only for the beginning-of-sequence token.
std::unique_ptr<probe::Tokenizer> tokenizer_if_any(const ProbeOptions& options, const probe::Model& model) {
  if (!options.tokenizer.empty()) return read_tokenizer_of(options, model);
  try {
    return read_tokenizer_of(options, model);
  } catch (const Error&) {
    return nullptr;
  }
}

std::string seconds_left(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return whole < 100 ? std::to_string(whole) + " s" : std::to_string(whole / 60) + " min";
}

}  // namespace

void add_text_options(CLI::App& command, TextOptions& options) {
  command.add_option("--text", options.text,
                     "Read this text file; without --text and --ids, sample the text from the model");
  command.add_option("--ids", options.ids,
                     "Read token ids from this .json file: a list, or an object with one under \"ids\"");
  command.add_flag("--special", options.special, "Parse control tokens in --text, such as <s>, as tokens");
  add_integer(command, "--seed", options.seed, "Seed the sampling; absent: 0");
}

probe::MeasuredText read_probe_text(const TextOptions& options, const ProbeOptions& model_options,
                                    const probe::Model& model, std::int64_t most, const probe::RunControl& control) {
  require(options.text.empty() || options.ids.empty(), "give --text or --ids, not both");
  require(options.seed >= 0, "--seed must be at least 0, got ", options.seed);
  if (!options.ids.empty()) {
    const auto tokenizer = tokenizer_if_any(model_options, model);
    return probe::given_text(ids_of(options.ids), tokenizer.get(), options.ids, most);
  }
  const bool sampled = options.text.empty();
  const bool needs_tokenizer = !sampled || !model.config().begins_anywhere;
  const auto tokenizer = needs_tokenizer ? read_tokenizer_of(model_options, model) : nullptr;
  if (sampled) {
    return probe::text_from_model(model, tokenizer.get(), static_cast<std::uint64_t>(options.seed), most, control);
  }
  return probe::given_text(tokenizer->encode(contents_of(options.text), {.bos = false, .special = options.special}),
                           tokenizer.get(), options.text, most);
}

TokenProgress::TokenProgress(Executor& executor, const Interruption& interruption) {
  control_.executor = &executor;
  control_.on_stage = [this](const std::string& stage, std::int64_t tokens) { begin(stage, tokens); };
  control_.on_tokens = [this](std::int64_t tokens) { add(tokens); };
  control_.interrupted = [&interruption] { return interruption.happened(); };
}

void TokenProgress::begin(std::string what, std::int64_t all) {
  what_ = std::move(what);
  all_ = std::max<std::int64_t>(all, 1);
  done_ = 0;
  start_ = std::chrono::steady_clock::now();
}

void TokenProgress::add(std::int64_t tokens) {
  done_ = std::min(done_ + tokens, all_);
  const double spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double left = spent * static_cast<double>(all_ - done_) / static_cast<double>(done_);
  bar_.show(static_cast<double>(done_), static_cast<std::size_t>(all_),
            what_ + ", about " + seconds_left(left) + " left");
}

}  // namespace locus::tools
