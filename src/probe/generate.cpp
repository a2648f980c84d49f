// SPDX-License-Identifier: Apache-2.0
#include "probe/generate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "locus/error.h"

namespace locus::probe {
namespace {

/// softmax(logits / temperature), in double.
std::vector<double> probabilities(std::span<const float> logits, double temperature) {
  const double most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> weights;
  weights.reserve(logits.size());
  double sum = 0;
  for (const float logit : logits) {
    weights.push_back(std::exp((logit - most) / temperature));
    sum += weights.back();
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

class Session {
 public:
  Session(const Model& model, const Encoding& encoding, const GenerateCall& call, std::int64_t capacity)
      : model_(model),
        call_(call),
        encoding_(encoding),
        cache_(model, capacity, encoding, encoding.length_dependent() ? KeyTables::raw : KeyTables::rerotate),
        sequence_(cache_.create()) {
    cache_.set_placement(call.placement);
  }

  std::vector<float> forward(std::span<const Token> tokens) {
    if (encoding_.length_dependent()) {
      cache_.set_encoding(encoding_.at_length(cache_.length(sequence_) + std::ssize(tokens)));
    }
    return model_.forward(tokens, sequence_, cache_, call_.executor);
  }

 private:
  const Model& model_;
  const GenerateCall& call_;
  const Encoding& encoding_;
  Cache cache_;
  SequenceId sequence_;
};

}  // namespace

Sampler::Sampler(const Sampling& sampling) : sampling_(sampling), random_(sampling.seed) {
  require(sampling.temperature >= 0 && std::isfinite(sampling.temperature), "temperature must be at least 0, got ",
          sampling.temperature);
  require(sampling.top_p > 0 && sampling.top_p <= 1, "top_p must be above 0 and at most 1, got ", sampling.top_p);
}

Token Sampler::pick(std::span<const float> logits) {
  require(!logits.empty(), "logits must not be empty");
  require(std::none_of(logits.begin(), logits.end(), [](float logit) { return std::isnan(logit); }),
          "the model's logits are not numbers: its weights or their types are wrong");
  const auto likeliest = static_cast<Token>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  if (sampling_.temperature == 0) return likeliest;
  const std::vector<double> weights = probabilities(logits, sampling_.temperature);
  std::vector<Token> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  const auto weight = [&](Token token) { return weights[static_cast<std::size_t>(token)]; };
  std::stable_sort(order.begin(), order.end(), [&](Token a, Token b) { return weight(a) > weight(b); });
  double kept = 0;
  std::size_t count = 0;
  while (count < order.size() && kept < sampling_.top_p) kept += weight(order[count++]);
  double left = random_.uniform() * kept;
  for (std::size_t i = 0; i < count; ++i) {
    left -= weight(order[i]);
    if (left < 0) return order[i];
  }
  return order[count - 1];
}

Generated generate(const Model& model, const Encoding& encoding, const GenerateCall& call) {
  require(!call.prompt.empty(), "a prompt must have at least one token");
  require(call.max_tokens >= 0 && call.chunk >= 1, "max_tokens must be at least 0 and chunk at least 1, got ",
          call.max_tokens, " and ", call.chunk);
  const Placement& placement = call.placement;
  const std::int64_t places = encoding.position_range().last + 1 - placement.first - placement.query_ahead;
  const std::int64_t prompt = std::ssize(call.prompt);
  require(prompt <= places, "the prompt has ", prompt, " tokens, but the encoding has positions for ", places);
  // The last token of a text is not read by the model.
  const std::int64_t most = std::min(call.max_tokens, places - prompt + 1);
  Sampler sampler(call.sampling);
  Session session(model, encoding, call, prompt + std::max<std::int64_t>(most, 1));
  Generated result;
  std::vector<float> logits;
  auto start = std::chrono::steady_clock::now();
  for (std::int64_t begin = 0; begin < prompt && !result.interrupted; begin += call.chunk) {
    result.interrupted = call.interrupted();
    if (result.interrupted) return result;
    logits = session.forward(call.prompt.subspan(static_cast<std::size_t>(begin),
                                                 static_cast<std::size_t>(std::min(call.chunk, prompt - begin))));
  }
  result.prompt_seconds = seconds_since(start);
  start = std::chrono::steady_clock::now();
  while (std::ssize(result.tokens) < most) {
    const Token token = sampler.pick(logits);
    if (std::find(call.stop.begin(), call.stop.end(), token) != call.stop.end()) break;
    result.tokens.push_back(token);
    call.on_token(token);
    if (std::ssize(result.tokens) == most) break;
    result.interrupted = call.interrupted();
    if (result.interrupted) break;
    logits = session.forward(std::span(&token, 1));
    ++result.steps;
  }
  result.seconds = seconds_since(start);
  result.out_of_positions = most < call.max_tokens && std::ssize(result.tokens) == most;
  return result;
}

}  // namespace locus::probe
