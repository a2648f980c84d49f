// SPDX-License-Identifier: Apache-2.0
// The passkey task: a number occurs once in a long filler text, and the end asks for it (Mohtashami and Jaggi 2023,
// arXiv 2305.16300).
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "figures/figure.h"
#include "probe/model.h"
#include "probe/run_control.h"
#include "probe/tokenizers/tokenizer.h"

namespace locus::probe {

struct PasskeyPrompt {
  std::vector<Token> tokens;  ///< ends just before the answer
  std::vector<Token> answer;  ///< the tokens of the key that follow
};

/// Makes a prompt that has, with its answer, at most `length` tokens, as close as whole filler sentences allow. The
/// key is at `depth`, 0 at the start and 1 at the end.
/// Error: a length that is too short even without filler.
PasskeyPrompt passkey_prompt(const Tokenizer& tokenizer, std::int64_t length, double depth, std::int64_t key);

/// The same in token ids, with a random key and noise around it. `length` counts the tokens that are read, all except
/// the last of the answer, as in the lab.
PasskeyPrompt passkey_prompt(const PasskeyFrame& frame, std::int64_t length, double depth, std::mt19937_64& random);

/// Makes the prompts of a grid; `random` is their only source of randomness.
using PasskeyPrompts = std::function<PasskeyPrompt(std::int64_t length, double depth, std::mt19937_64& random)>;
/// Prompts of sentences with keys of five digits. The tokenizer must outlive the result.
PasskeyPrompts prompts_in_sentences(const Tokenizer& tokenizer);
PasskeyPrompts prompts_in_ids(PasskeyFrame frame);

struct PasskeyCell {
  std::int64_t length = 0;  ///< requested length
  double depth = 0;
  std::int64_t trials = 0, found = 0;  ///< found: greedy decoding returns the key's tokens
  double key_loss = 0;                 ///< mean nats per token of the key
};

struct PasskeyGrid {
  std::vector<std::int64_t> lengths;
  std::vector<double> depths = {0, 0.25, 0.5, 0.75, 1};
  std::int64_t trials = 4;
  std::uint64_t seed = 0;
};

/// Measures all cells, by length and then depth. Returns the finished cells if interrupted.
std::vector<PasskeyCell> measure_passkeys(const Model& model, const Encoding& encoding, const PasskeyPrompts& prompts,
                                          const PasskeyGrid& grid, const RunControl& control = {});

/// Returns one sentence that summarises the grid, or says that the model fails even within its trained length.
std::string describe(std::span<const PasskeyCell> cells, std::int64_t trained_length);

figures::Figure passkey_figure(const std::string& model, std::span<const PasskeyCell> cells);

}  // namespace locus::probe
