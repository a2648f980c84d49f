// SPDX-License-Identifier: Apache-2.0
// SentencePiece's BPE as stored in GGUF files of the model "llama": a score per token decides which pair is merged
// first.
#pragma once

#include <string>
#include <vector>

#include "probe/tokenizers/tokenizer.h"
#include "probe/tokenizers/vocabulary.h"

namespace locus::probe {

struct SentencePieceParts {
  TokenizerFacts facts;
  Vocabulary vocabulary;      ///< with U+2581 for a space
  std::vector<float> scores;  ///< one per token
  bool space_prefix = true;   ///< adds a space before a text and after a control token
};

/// Error: parts that do not match; `name` starts the message.
std::unique_ptr<Tokenizer> make_sentencepiece(SentencePieceParts parts, const std::string& name);

}  // namespace locus::probe
