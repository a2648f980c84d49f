// SPDX-License-Identifier: Apache-2.0
// What a measurement reads: the user's tokens, or what the model itself says.
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
  std::string caveat = {};  ///< what the text cannot show; empty for a user's own
};

/// At most `most` of the user's tokens, beginning-of-sequence in front, which is added where it is lacking and the
/// tokenizer (which may be null) has one. Error where there are no tokens.
MeasuredText given_text(std::vector<Token> tokens, const Tokenizer* tokenizer, std::string source, std::int64_t most);

/// `most` tokens sampled from the model under its own encoding. The tokenizer says how a text begins; it may be null
/// for models of the lab, whose texts begin anywhere.
MeasuredText text_from_model(const Model& model, const Tokenizer* tokenizer, std::uint64_t seed, std::int64_t most,
                             const RunControl& control = {});

}  // namespace locus::probe
