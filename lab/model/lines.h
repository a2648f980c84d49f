// SPDX-License-Identifier: Apache-2.0
// The lines of a trained scheme: the forms in which it is tested.
//
//   learned    the trained table, whose rows beyond the trained length are untrained
//     +resized the trained rows stretched over the tested length
//   rope       as trained
//     +RULE    with each rule of the registry that is compared by default, factor = length / trained length
//     +tuned   with or without a rule, after a short fine-tune at the longest length
//
// A fine-tuned model keeps the factor it was tuned with, longest / trained length, at every tested length. A rule that
// depends on the length of the sequence (dynamic_ntk) always has that factor: within the trained length it changes
// nothing. "rope+tuned" has no rule and shows the effect of fine-tuning alone.
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

/// Returns the lines whose names lines_of() returns.
std::vector<Line> lines_with_variants(const TrialSpec& spec);

/// Returns the encoding of a model in this line, for sequences of `length`.
Encoding encoding_of(const Line& line, const TrialSpec& spec, const Transformer& model, std::int64_t length);

}  // namespace locus::lab
