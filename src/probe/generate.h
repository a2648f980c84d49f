// SPDX-License-Identifier: Apache-2.0
// Generates the tokens that continue a prompt.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/random.h"
#include "probe/model.h"

namespace locus::probe {

struct Sampling {
  double temperature = 0;  ///< 0: always the most likely token, the first of equals
  double top_p = 1;        ///< samples from the smallest set of most likely tokens with this total probability
  std::uint64_t seed = 0;  ///< the same seed gives the same text
};

class Sampler {
 public:
  explicit Sampler(const Sampling& sampling);
  Token pick(std::span<const float> logits);

 private:
  Sampling sampling_;
  Random random_;
};

struct GenerateCall {
  std::span<const Token> prompt;  ///< at least one token
  std::int64_t max_tokens = 0;
  Sampling sampling = {};
  std::vector<Token> stop = {};  ///< tokens that end the text and are not part of it
  std::int64_t chunk = 512;      ///< reads the prompt in chunks of this many tokens
  Placement placement = {};
  /// Called before each step; true ends the generation.
  std::function<bool()> interrupted = [] { return false; };
  std::function<void(Token)> on_token = [](Token) {};
  Executor* executor = nullptr;
};

struct Generated {
  std::vector<Token> tokens;
  double prompt_seconds = 0;
  double seconds = 0;      ///< after the prompt
  std::int64_t steps = 0;  ///< single-token forwards in that time
  bool interrupted = false;
  bool out_of_positions = false;  ///< the encoding has no position for another token
};

/// Generates with `encoding`. If it depends on the length, it follows the length and cached keys are rotated again.
Generated generate(const Model& model, const Encoding& encoding, const GenerateCall& call);

}  // namespace locus::probe
