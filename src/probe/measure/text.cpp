// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/text.h"

#include <random>

#include "locus/error.h"
#include "probe/measure/sampled_text.h"

namespace locus::probe {

MeasuredText given_text(std::vector<Token> tokens, const Tokenizer* tokenizer, std::string source, std::int64_t most) {
  MeasuredText text{.tokens = std::move(tokens), .source = std::move(source)};
  require(!text.tokens.empty(), text.source, ": has no tokens");
  if (tokenizer != nullptr) text.bos = tokenizer->bos();
  text.bos_added = text.bos && text.tokens.front() != *text.bos;
  if (text.bos_added) text.tokens.insert(text.tokens.begin(), *text.bos);
  if (std::ssize(text.tokens) > most) text.tokens.resize(static_cast<std::size_t>(most));
  return text;
}

MeasuredText text_from_model(const Model& model, const Tokenizer* tokenizer, std::uint64_t seed, std::int64_t most,
                             const RunControl& control) {
  MeasuredText text{.source = "sampled from the model", .caveat = std::string(sampled_text_caveat())};
  SampledText wanted{.tokens = most, .seed = seed};
  if (model.config().begins_anywhere) {
    wanted.start = static_cast<Token>(std::mt19937_64(seed)() % static_cast<std::uint64_t>(model.config().vocab));
  } else {
    require(tokenizer != nullptr, "sampling a text needs the model's tokenizer");
    const auto start = tokenizer->bos() ? tokenizer->bos() : tokenizer->eos();
    require(start.has_value(), "this vocabulary has no beginning-of-sequence token: give a text or token ids");
    wanted.start = *start;
    wanted.stops = {*start};
    if (tokenizer->eos()) wanted.stops.push_back(*tokenizer->eos());
    text.bos = start;
  }
  text.tokens = sample_text(model, wanted, control);
  return text;
}

}  // namespace locus::probe
