// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/retrieval.h"

#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "probe/measure/loss.h"

namespace locus::probe {
namespace {

constexpr std::string_view opening =
    "There is an important info hidden inside a lot of irrelevant text. Find it and memorize it. I will quiz you about "
    "the important information there.";
constexpr std::string_view filler =
    " The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";
constexpr std::string_view question = " What is the pass key? The pass key is";

std::string needle(const std::string& key) {
  return " The pass key is " + key + ". Remember it. " + key + " is the pass key.";
}

std::string repeated(std::int64_t times) {
  std::string text;
  for (std::int64_t i = 0; i < times; ++i) text += filler;
  return text;
}

std::string prompt_text(const std::string& key, std::int64_t fillers, double depth) {
  const auto before = static_cast<std::int64_t>(std::llround(depth * static_cast<double>(fillers)));
  return std::string(opening) + repeated(before) + needle(key) + repeated(fillers - before) + std::string(question);
}

/// Measures whether greedy decoding gives the answer, and its loss. One forward over prompt and answer gives both.
void ask(const Model& model, const Encoding& encoding, const PasskeyPrompt& prompt, const RunControl& control,
         PasskeyCell& cell) {
  std::vector<Token> tokens = prompt.tokens;
  tokens.insert(tokens.end(), prompt.answer.begin(), prompt.answer.end() - 1);
  Cache cache(model, std::ssize(tokens), encoding.at_length(std::ssize(tokens)));
  const SequenceId sequence = cache.create();
  const std::size_t answers = prompt.answer.size();
  std::size_t at = 0;
  const auto chunk = static_cast<std::size_t>(control.chunk);
  while (tokens.size() - at > std::max(chunk, answers)) {
    const std::size_t size = std::min(chunk, tokens.size() - at - answers);
    (void)model.forward(std::span(tokens).subspan(at, size), sequence, cache, control.executor);
    at += size;
  }
  const Segment segment{.sequence = sequence, .tokens = std::span<const Token>(tokens).subspan(at)};
  std::vector<std::int64_t> wanted;
  for (std::size_t i = answers; i > 0; --i) wanted.push_back(std::ssize(segment.tokens) - static_cast<std::int64_t>(i));
  ForwardCall call;
  call.segments = std::span(&segment, 1);
  call.logits_wanted = wanted;
  call.executor = control.executor;
  const std::vector<float> logits = model.forward(call, cache);
  const auto vocab = static_cast<std::size_t>(model.config().vocab);
  bool found = true;
  double loss = 0;
  for (std::size_t i = 0; i < answers; ++i) {
    const auto row = std::span(logits).subspan(i * vocab, vocab);
    const auto likeliest = std::max_element(row.begin(), row.end()) - row.begin();
    found = found && likeliest == prompt.answer[i];
    loss += loss_of(row, prompt.answer[i]);
  }
  cell.found += found ? 1 : 0;
  cell.trials += 1;
  cell.key_loss += loss / static_cast<double>(answers);
  control.on_tokens(std::ssize(tokens));
}

}  // namespace

PasskeyPrompt passkey_prompt(const Tokenizer& tokenizer, std::int64_t length, double depth, std::int64_t key) {
  require(depth >= 0 && depth <= 1, "the depth of a passkey must be from 0 to 1, got ", depth);
  const std::string digits = std::to_string(key);
  // The answer is the tokens of the whole text after the prompt: a vocabulary may join the space and the first
  // digits.
  const auto made = [&](std::int64_t fillers) {
    PasskeyPrompt prompt;
    const std::string text = prompt_text(digits, fillers, depth);
    const std::vector<Token> whole = tokenizer.encode(text + " " + digits);
    prompt.tokens = tokenizer.encode(text);
    const auto apart = std::mismatch(prompt.tokens.begin(), prompt.tokens.end(), whole.begin(), whole.end());
    prompt.answer.assign(apart.second, whole.end());
    prompt.tokens.erase(apart.first, prompt.tokens.end());
    return prompt;
  };
  const auto size_of = [](const PasskeyPrompt& prompt) {
    return std::ssize(prompt.tokens) + std::ssize(prompt.answer);
  };
  const std::int64_t frame = size_of(made(0));
  require(frame <= length, "a passkey prompt needs at least ", frame, " tokens with this vocabulary, got ", length);
  const std::int64_t one = std::max<std::int64_t>(size_of(made(8)) - frame, 8) / 8;
  std::int64_t fillers = (length - frame) / one + 1;
  PasskeyPrompt prompt = made(fillers);
  while (size_of(prompt) > length) prompt = made(--fillers);
  require(!prompt.tokens.empty() && !prompt.answer.empty(), "this vocabulary has no tokens for a passkey");
  return prompt;
}

PasskeyPrompt passkey_prompt(const PasskeyFrame& frame, std::int64_t length, double depth, std::mt19937_64& random) {
  require(depth >= 0 && depth <= 1, "the depth of a passkey must be from 0 to 1, got ", depth);
  const auto any_of = [&](const auto& choices) -> const auto& { return choices[random() % choices.size()]; };
  const std::int64_t key_length = std::ssize(frame.keys.front());
  const std::int64_t shortest =
      2 * key_length + 1;  // the mark, the key, the question, and the answer without its last token
  require(length >= shortest, "a passkey prompt needs at least ", shortest, " tokens for this model, got ", length);
  const auto before = static_cast<std::int64_t>(std::llround(depth * static_cast<double>(length - shortest)));
  PasskeyPrompt prompt;
  prompt.answer = any_of(frame.keys);
  for (std::int64_t i = 0; i < length - shortest; ++i) prompt.tokens.push_back(any_of(frame.noise));
  std::vector<Token> needle = {frame.key_mark};
  needle.insert(needle.end(), prompt.answer.begin(), prompt.answer.end());
  prompt.tokens.insert(prompt.tokens.begin() + before, needle.begin(), needle.end());
  prompt.tokens.push_back(frame.question);
  return prompt;
}

PasskeyPrompts prompts_in_sentences(const Tokenizer& tokenizer) {
  return [&tokenizer](std::int64_t length, double depth, std::mt19937_64& random) {
    return passkey_prompt(tokenizer, length, depth, static_cast<std::int64_t>(10000 + random() % 90000));
  };
}

PasskeyPrompts prompts_in_ids(PasskeyFrame frame) {
  return [frame = std::move(frame)](std::int64_t length, double depth, std::mt19937_64& random) {
    return passkey_prompt(frame, length, depth, random);
  };
}

std::vector<PasskeyCell> measure_passkeys(const Model& model, const Encoding& encoding, const PasskeyPrompts& prompts,
                                          const PasskeyGrid& grid, const RunControl& control) {
  require(!grid.lengths.empty() && !grid.depths.empty() && grid.trials >= 1,
          "a passkey grid needs lengths, depths and at least one trial");
  std::mt19937_64 random(grid.seed);
  std::vector<PasskeyCell> cells;
  for (const std::int64_t length : grid.lengths) {
    for (const double depth : grid.depths) {
      PasskeyCell cell{.length = length, .depth = depth};
      for (std::int64_t trial = 0; trial < grid.trials; ++trial) {
        if (control.interrupted()) return cells;
        ask(model, encoding, prompts(length, depth, random), control, cell);
      }
      cell.key_loss /= static_cast<double>(cell.trials);
      cells.push_back(cell);
    }
  }
  return cells;
}

std::string describe(std::span<const PasskeyCell> cells, std::int64_t trained_length) {
  std::int64_t in_trials = 0, in_found = 0, out_trials = 0, out_found = 0;
  for (const PasskeyCell& cell : cells) {
    const bool in_range = cell.length <= trained_length;
    (in_range ? in_trials : out_trials) += cell.trials;
    (in_range ? in_found : out_found) += cell.found;
  }
  const auto share = [](std::int64_t found, std::int64_t trials) {
    return std::to_string(found) + " of " + std::to_string(trials);
  };
  if (in_trials == 0)
    return "no length within the trained length was measured, so failures cannot be attributed to position";
  if (2 * in_found < in_trials) {
    return "this model cannot do the task within its trained length (" + share(in_found, in_trials) +
           " keys found), so results beyond it say nothing about its positions";
  }
  return "within the trained length " + share(in_found, in_trials) + " keys were found, beyond it " +
         share(out_found, out_trials);
}

figures::Figure passkey_figure(const std::string& model, std::span<const PasskeyCell> cells) {
  using figures::Json;
  Json rows = Json::array();
  for (const PasskeyCell& cell : cells) {
    rows.push_back({{"length", cell.length},
                    {"depth", cell.depth},
                    {"found", static_cast<double>(cell.found) / static_cast<double>(cell.trials)}});
  }
  return {.name = "passkey-grid",
          .title = "Passkeys found by depth and length: " + model,
          .caption = "Each cell is the share of keys that greedy decoding returns; at depth 0 the key is at the start.",
          .spec = {{"$schema", "https://vega.github.io/schema/vega-lite/v5.json"},
                   {"width", "container"},
                   {"height", 240},
                   {"data", {{"values", rows}}},
                   {"mark", {{"type", "rect"}, {"tooltip", true}}},
                   {"encoding",
                    {{"x", {{"field", "length"}, {"type", "ordinal"}, {"title", "length in tokens"}}},
                     {"y", {{"field", "depth"}, {"type", "ordinal"}, {"title", "depth of the key"}}},
                     {"color",
                      {{"field", "found"},
                       {"type", "quantitative"},
                       {"title", "share found"},
                       {"scale", {{"domain", {0, 1}}, {"scheme", "viridis"}}}}}}}}};
}

}  // namespace locus::probe
