// SPDX-License-Identifier: Apache-2.0
// SentencePiece's BPE as GGUF files of the model "llama" carry it: a score per token says which pair merges first.
#pragma once

#include <string>
#include <vector>

#include "probe/tokenizers/tokenizer.h"
#include "probe/tokenizers/vocabulary.h"

namespace locus::probe {

struct SentencePieceParts {
  TokenizerFacts facts;
  Vocabulary vocabulary;      ///< spelled with U+2581 for a space
  std::vector<float> scores;  ///< one per token
  bool space_prefix = true;   ///< a space goes in front of a text, and of what follows a control token
};

/// Error, starting with `name`, where the parts do not fit together.
std::unique_ptr<Tokenizer> make_sentencepiece(SentencePieceParts parts, const std::string& name);

}  // namespace locus::probe
