// SPDX-License-Identifier: Apache-2.0
// The probe for probe.js: models from bytes, by number.
#include <emscripten/bind.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>

#include "javascript.h"
#include "locus/error.h"
#include "locus/scaling.h"
#include "locus/stretch.h"
#include "probe/generate.h"
#include "probe/measure/loss.h"
#include "probe/measure/score_map.h"
#include "probe/tokenizers/tokenizer.h"

namespace locus::wasm {
namespace {

using probe::Token;

/// How a text is read: { encoding, firstPosition, queryAhead }.
struct Reading {
  Encoding encoding;
  probe::Placement placement;
};

struct Loaded {
  probe::Model model;
  std::unique_ptr<probe::Tokenizer> tokenizer;
  std::unique_ptr<class Writer> writer = {};

  Reading reading(const val& how) const {
    return {probe::encoding_for(model, how["encoding"].as<std::string>()),
            {.first = static_cast<Position>(how["firstPosition"].as<double>()),
             .query_ahead = static_cast<Position>(how["queryAhead"].as<double>())}};
  }
  std::vector<Token> tokens(const val& text) const { return tokenizer->encode(text.as<std::string>()); }
  std::string piece(Token token) const { return tokenizer->piece(token, token); }
};

/// A text that grows token by token.
class Writer {
 public:
  Writer(const Loaded& loaded, Reading reading, const std::vector<Token>& prompt)
      : loaded_(loaded),
        reading_(std::move(reading)),
        cache_(loaded.model, most_tokens(prompt), reading_.encoding,
               reading_.encoding.length_dependent() ? probe::KeyTables::raw : probe::KeyTables::rerotate),
        sequence_(cache_.create()) {
    cache_.set_placement(reading_.placement);
    read(prompt);
  }

  /// Appends the most likely token; null when there is no position for another.
  val next() {
    if (logits_.empty()) return val::null();
    const std::vector<double> shares = probabilities();
    std::vector<Token> order(shares.size());
    std::iota(order.begin(), order.end(), 0);
    const auto share = [&](Token token) { return shares[static_cast<std::size_t>(token)]; };
    constexpr std::size_t most_shown = 5;
    const auto shown = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), most_shown));
    std::partial_sort(order.begin(), shown, order.end(),
                      [&](Token a, Token b) { return share(a) != share(b) ? share(a) > share(b) : a < b; });
    val candidates = val::array();
    std::for_each(order.begin(), shown, [&](Token token) {
      val one = val::object();
      one.set("text", loaded_.piece(token));
      one.set("probability", share(token));
      candidates.call<void>("push", one);
    });
    read({order.front()});
    return candidates;
  }

 private:
  static constexpr std::int64_t most_written = 4096;

  std::int64_t most_tokens(const std::vector<Token>& prompt) const {
    const Position last = reading_.encoding.position_range().last - reading_.placement.query_ahead;
    places_ = std::min(last - reading_.placement.first + 1, std::ssize(prompt) + most_written);
    require(std::ssize(prompt) <= places_, "the text has ", prompt.size(),
            " tokens, but the encoding has positions for ", places_);
    return places_;
  }

  void read(const std::vector<Token>& tokens) {
    const std::int64_t length = cache_.length(sequence_) + std::ssize(tokens);
    if (length > places_) {
      logits_.clear();
      return;
    }
    if (reading_.encoding.length_dependent()) cache_.set_encoding(reading_.encoding.at_length(length));
    logits_ = loaded_.model.forward(tokens, sequence_, cache_);
  }

  std::vector<double> probabilities() const {
    std::vector<double> shares;
    for (Token token = 0; token < std::ssize(logits_); ++token)
      shares.push_back(std::exp(-probe::loss_of(logits_, token)));
    return shares;
  }

  const Loaded& loaded_;
  Reading reading_;
  mutable std::int64_t places_ = 0;
  probe::Cache cache_;
  SequenceId sequence_;
  std::vector<float> logits_;
};

std::map<int, Loaded>& models() {
  static std::map<int, Loaded> all;
  return all;
}

Loaded& model_of(int number) {
  const auto found = models().find(number);
  require(found != models().end(), "the model was closed");
  return found->second;
}

val open(const std::string& name, const val& bytes) {
  return guarded([&] {
    // The readers map files; the memory of the module has a file system for them.
    const auto data = to_vector<std::uint8_t>(bytes);
    std::ofstream(name, std::ios::binary).write(reinterpret_cast<const char*>(data.data()), std::ssize(data));
    static int last_number = 0;
    probe::Model model = probe::load(name);
    auto tokenizer = probe::read_model_tokenizer(name, static_cast<std::int32_t>(model.config().vocab));
    const int number = ++last_number;
    const Loaded& loaded = models().emplace(number, Loaded{std::move(model), std::move(tokenizer)}).first->second;
    const probe::ModelConfig& config = loaded.model.config();
    const Encoding& encoding = loaded.model.encoding();
    val result = val::object();
    result.set("number", number);
    result.set("scheme", std::string(encoding.scheme().name));
    result.set("site", std::string(name_of(encoding.site())));
    result.set("layers", static_cast<double>(config.layers));
    result.set("heads", static_cast<double>(config.heads));
    result.set("headDim", static_cast<double>(config.head_dim));
    result.set("trainedLength", static_cast<double>(config.trained_length));
    result.set("positions", static_cast<double>(encoding.position_range().last) + 1);
    result.set("takesRules", takes_rules(encoding));
    result.set("pairing", takes_rules(encoding) ? encoding.arguments().text("pairing") : std::string());
    std::vector<std::string> pieces;
    for (Token token = 0; token < loaded.tokenizer->vocab_size(); ++token) pieces.push_back(loaded.piece(token));
    result.set("vocabulary", val::array(pieces));
    return result;
  });
}

void close(int number) { models().erase(number); }

val encode(int number, const val& text) {
  return guarded([&] { return to_array(model_of(number).tokens(text)); });
}

val losses(int number, const val& text, const val& how) {
  return guarded([&] {
    const Loaded& loaded = model_of(number);
    const Reading reading = loaded.reading(how);
    return to_array(probe::sequence_losses(loaded.model, reading.encoding, probe::LengthForm::whole,
                                           loaded.tokens(text), {}, reading.placement));
  });
}

val attention(int number, const val& text, const val& how) {
  return guarded([&] {
    const Loaded& loaded = model_of(number);
    const Reading reading = loaded.reading(how);
    const probe::ScoreMap map =
        probe::measure_scores(loaded.model, reading.encoding, loaded.tokens(text), reading.placement);
    val result = val::object();
    result.set("tokens", static_cast<double>(map.tokens));
    result.set("probabilities", to_array(map.probabilities));
    result.set("scores", to_array(map.scores));
    result.set("content", to_array(map.content));
    return result;
  });
}

val begin(int number, const val& text, const val& how) {
  return guarded([&] {
    Loaded& loaded = model_of(number);
    const std::vector<Token> prompt = loaded.tokens(text);
    require(!prompt.empty(), "a prompt must have at least one token");
    loaded.writer = std::make_unique<Writer>(loaded, loaded.reading(how), prompt);
    return val::undefined();
  });
}

val next(int number) {
  return guarded([&] {
    const Loaded& loaded = model_of(number);
    require(loaded.writer != nullptr, "no text was begun");
    return loaded.writer->next();
  });
}

/// The rules that stretch a model by a factor alone.
val rules() {
  std::vector<std::string> names;
  for (const Rule* rule : compared_rules()) {
    if (needs_factor_only(*rule)) names.emplace_back(rule->name);
  }
  return val::array(names);
}

}  // namespace

EMSCRIPTEN_BINDINGS(locus_probe) {
  emscripten::function("open", &open);
  emscripten::function("close", &close);
  emscripten::function("encode", &encode);
  emscripten::function("losses", &losses);
  emscripten::function("attention", &attention);
  emscripten::function("begin", &begin);
  emscripten::function("next", &next);
  emscripten::function("rules", &rules);
  emscripten::function(
      "target", +[] { return std::string(simd_target()); });
}

}  // namespace locus::wasm
