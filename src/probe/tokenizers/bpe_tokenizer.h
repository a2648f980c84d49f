// SPDX-License-Identifier: Apache-2.0
// BPE with a list of merges: over GPT-2's bytes, or over characters, as tokenizer.json stores SentencePiece models.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probe/tokenizers/normalization.h"
#include "probe/tokenizers/split_pattern.h"
#include "probe/tokenizers/tokenizer.h"
#include "probe/tokenizers/vocabulary.h"

namespace locus::probe {

struct BpeParts {
  TokenizerFacts facts;
  Vocabulary vocabulary;
  std::vector<std::pair<std::string, std::string>> merges;  ///< spellings, in order of priority
  std::vector<AddedToken> added;

  // The steps applied to a piece of text, in this order.
  std::optional<NormalForm> form;  ///< texts are normalized to it first
  bool space_prefix = false;       ///< adds a space to a text that does not start with one
  std::string prefix;              ///< before every piece, or ...
  bool prefix_first_only = false;  ///< ... only before the first
  bool prefix_if_missing = false;  ///< not if the text already starts with it
  std::string shown_as;            ///< replaces a space; empty: no replacement
  std::vector<SplitStep> steps;

  bool byte_level = true;    ///< tokens use GPT-2's byte alphabet; else characters
  bool whole_words = false;  ///< a word that is a token becomes that token without merging
  bool byte_fallback = false;
  bool fuse_unknown = false;
  bool strips_leading_space = false;  ///< decoding removes one space from the start of the text
};

/// Error: a merge of a token that is not in the vocabulary; `name` starts the message.
std::unique_ptr<Tokenizer> make_bpe(BpeParts parts, const std::string& name);

/// GPT-2's pattern, the default of ByteLevel.
extern const char* const gpt2_pattern;

}  // namespace locus::probe
