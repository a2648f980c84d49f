// SPDX-License-Identifier: Apache-2.0
#include "probe_texts.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "locus/error.h"
#include "position_list.h"
#include "probe/measure/sampled_text.h"

namespace locus::tools {
namespace {

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), path, ": cannot be opened");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  require(!file.bad(), path, ": cannot be read");
  return text;
}

/// A list of numbers, or an object that has one under "ids".
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
            ": a token id must be from 0 to 2^31 - 1, got ", id.dump());
    ids.push_back(id.get<probe::Token>());
  }
  return ids;
}

/// Ids need no tokenizer but for knowing how a sequence begins.
std::unique_ptr<probe::Tokenizer> tokenizer_if_any(const ProbeOptions& options, const probe::Model& model) {
  if (!options.tokenizer.empty()) return read_tokenizer_of(options, model);
  try {
    return read_tokenizer_of(options, model);
  } catch (const Error&) {
    return nullptr;
  }
}

ProbeText sampled(const TextOptions& options, const ProbeOptions& model_options, const probe::Model& model,
                  std::int64_t most, const probe::RunControl& control) {
  ProbeText text{.source = "sampled from the model"};
  text.caveat = probe::sampled_text_caveat();
  if (model.config().begins_anywhere) {
    const auto vocab = static_cast<std::uint64_t>(model.config().vocab),
               seed = static_cast<std::uint64_t>(options.seed);
    const probe::SampledText wanted{
        .start = static_cast<probe::Token>(std::mt19937_64(seed)() % vocab), .tokens = most, .seed = seed};
    text.tokens = probe::sample_text(model, wanted, control);
    return text;
  }
  const auto tokenizer = read_tokenizer_of(model_options, model);
  const auto start = tokenizer->bos() ? tokenizer->bos() : tokenizer->eos();
  require(start.has_value(), "this vocabulary has no token that begins a text: give --text or --ids");
  probe::SampledText wanted{.start = *start, .stops = {*start}, .tokens = most};
  if (tokenizer->eos()) wanted.stops.push_back(*tokenizer->eos());
  wanted.seed = static_cast<std::uint64_t>(options.seed);
  text.bos = start;
  text.tokens = probe::sample_text(model, wanted, control);
  return text;
}

std::string seconds_left(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  return whole < 100 ? std::to_string(whole) + " s" : std::to_string(whole / 60) + " min";
}

}  // namespace

void add_text_options(CLI::App& command, TextOptions& options) {
  command.add_option("--text", options.text, "A file of text; without --text and --ids: sampled from the model itself");
  command.add_option("--ids", options.ids, "A .json file with a list of token ids");
  command.add_flag("--special", options.special, "Spellings of control tokens in --text, such as <s>, stand for them");
  add_integer(command, "--seed", options.seed, "Of what is sampled; absent: 0");
}

ProbeText read_probe_text(const TextOptions& options, const ProbeOptions& model_options, const probe::Model& model,
                          std::int64_t most, const probe::RunControl& control) {
  require(options.text.empty() || options.ids.empty(), "give --text or --ids, not both");
  require(options.seed >= 0, "--seed must be 0 or more, got ", options.seed);
  if (options.text.empty() && options.ids.empty()) return sampled(options, model_options, model, most, control);
  ProbeText text;
  if (!options.ids.empty()) {
    text.source = options.ids;
    text.tokens = ids_of(options.ids);
    if (const auto tokenizer = tokenizer_if_any(model_options, model)) text.bos = tokenizer->bos();
  } else {
    const auto tokenizer = read_tokenizer_of(model_options, model);
    text.source = options.text;
    text.tokens = tokenizer->encode(contents_of(options.text), {.bos = false, .special = options.special});
    text.bos = tokenizer->bos();
  }
  require(!text.tokens.empty(), text.source, ": has no tokens");
  text.bos_added = text.bos && text.tokens.front() != *text.bos;
  if (text.bos_added) text.tokens.insert(text.tokens.begin(), *text.bos);
  if (std::ssize(text.tokens) > most) text.tokens.resize(static_cast<std::size_t>(most));
  return text;
}

TokenProgress::TokenProgress(Executor& executor, const Interruption& interruption) {
  control_.executor = &executor;
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
