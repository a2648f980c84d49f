// SPDX-License-Identifier: Apache-2.0
// The text of a measurement: the user's tokens, or a text sampled from the model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probe/model.h"
#include "probe/run_control.h"
#include "probe/tokenizers/tokenizer.h"

namespace locus::probe {

struct MeasuredText {
  std::vector<Token> tokens = {};
  std::optional<Token> bos = {};
  std::string source = {};  ///< "story.txt", "ids.json", "sampled from the model"
  bool bos_added = false;
  std::string caveat = {};  ///< what the text cannot show; empty for a given text
};

/// Returns at most `most` of the user's tokens. Adds the beginning-of-sequence token if it is missing and the
/// tokenizer (which may be null) has one.
/// Error: no tokens.
MeasuredText given_text(std::vector<Token> tokens, const Tokenizer* tokenizer, std::string source, std::int64_t most);

/// Samples `most` tokens from the model with its encoding. The tokenizer gives the first token; it may be null for
/// models of the lab, whose texts may begin with any token.
MeasuredText text_from_model(const Model& model, const Tokenizer* tokenizer, std::uint64_t seed, std::int64_t most,
                             const RunControl& control = {});

}  // namespace locus::probe
