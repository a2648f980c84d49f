// SPDX-License-Identifier: Apache-2.0
// The passkey task: a number said once inside a long dull text, asked for at its end (Mohtashami and Jaggi 2023,
// arXiv 2305.16300).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "figures/figure.h"
#include "probe/model.h"
#include "probe/run_control.h"
#include "probe/tokenizer.h"

namespace locus::probe {

struct PasskeyPrompt {
  std::vector<Token> tokens;  ///< ends right before the answer
  std::vector<Token> answer;  ///< the tokens of the key as they go on from there
};

/// As close to `length` tokens, answer included, as whole filler sentences allow, and never above; the key stands
/// `depth` of the way in, 0 at the start and 1 at the end. Error where the frame alone does not fit.
PasskeyPrompt passkey_prompt(const Tokenizer& tokenizer, std::int64_t length, double depth, std::int64_t key);

struct PasskeyCell {
  std::int64_t length = 0;  ///< asked for
  double depth = 0;
  std::int64_t trials = 0, found = 0;  ///< found: greedy decoding gives the key's tokens
  double key_loss = 0;                 ///< mean nats per token of the key
};

struct PasskeyGrid {
  std::vector<std::int64_t> lengths;
  std::vector<double> depths = {0, 0.25, 0.5, 0.75, 1};
  std::int64_t trials = 4;
  std::uint64_t seed = 0;
};

/// Cell after cell, lengths outside; the cells done where it is interrupted. Keys have five digits.
std::vector<PasskeyCell> measure_passkeys(const Model& model, const Encoding& encoding, const Tokenizer& tokenizer,
                                          const PasskeyGrid& grid, const RunControl& control = {});

/// One sentence: what the grid says, and that it says nothing where the model fails within its trained length.
std::string words_of(std::span<const PasskeyCell> cells, std::int64_t trained_length);

figures::Figure passkey_figure(const std::string& model, std::span<const PasskeyCell> cells);

}  // namespace locus::probe
