// SPDX-License-Identifier: Apache-2.0
// The lines of a trained scheme: what it is tested as.
//
// learned: the table as trained, where rows beyond the trained length never were; "+resized": the trained rows resized
//   to the tested length.
// rope: as trained; "+linear", "+ntk", ...: each rule of the registry that is compared by default, with
//   factor = tested length / trained length; each also "+tuned": after a short fine-tune at the longest length.
//
// A fine-tuned model keeps the rule that it was tuned with, factor = longest / trained length, at every tested length.
// A rule that follows the length of the sequence (dynamic_ntk) keeps that factor too, tuned or not: within the trained
// length it stretches nothing. "rope+tuned" has no rule: it shows what the fine-tune does by itself.
#pragma once

#include <string>
#include <vector>

#include "model/transformer.h"
#include "trial.h"

namespace locus::lab {

struct Line {
  std::string name;
  std::string variant;  ///< "", "resized", or a RoPE rule
  bool tuned = false;
};

/// As lines_of(), which gives their names.
std::vector<Line> lines_with_variants(const TrialSpec& spec);

/// What positions are to a model under this line, in sequences of `length`.
Encoding encoding_of(const Line& line, const TrialSpec& spec, const Transformer& model, std::int64_t length);

}  // namespace locus::lab
