// SPDX-License-Identifier: Apache-2.0
// BPE by a list of merges: over GPT-2's bytes, or over characters as SentencePiece's models look in tokenizer.json.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "probe/tokenizers/split_pattern.h"
#include "probe/tokenizers/tokenizer.h"
#include "probe/tokenizers/vocabulary.h"

namespace locus::probe {

struct BpeParts {
  TokenizerFacts facts;
  Vocabulary vocabulary;
  std::vector<std::pair<std::string, std::string>> merges;  ///< spellings, the first goes first
  std::vector<AddedToken> added;

  // What is done to a stretch of text, in this order.
  bool needs_nfc = false;            ///< a text that may not be in form NFC is refused
  bool space_prefix = false;         ///< a space in front of a text that does not start with one
  std::string prefix;                ///< in front of every stretch, or ...
  bool prefix_first_only = false;    ///< ... of the first alone
  bool prefix_unless_there = false;  ///< not where the text already starts with it
  std::string shown_as;              ///< what a space is replaced by; empty: left alone
  std::vector<SplitStep> steps;

  bool byte_level = true;    ///< tokens are spelled in GPT-2's alphabet; else in characters
  bool whole_words = false;  ///< a word that is a token is that token, whatever the merges say
  bool byte_fallback = false;
  bool fuse_unknown = false;
  bool strips_leading_space = false;  ///< decoding takes one space off the start of the text
};

/// Error, starting with `name`, where a merge names a token that is not there.
std::unique_ptr<Tokenizer> make_bpe(BpeParts parts, const std::string& name);

/// GPT-2's pattern, which ByteLevel uses where it is not told otherwise.
extern const char* const gpt2_pattern;

}  // namespace locus::probe
