// SPDX-License-Identifier: Apache-2.0
// The lines of a trained scheme: what it is tested as.
//
//   learned      the table as it is, rows beyond the training length never trained; "+resized": the trained rows
//                stretched over the tested length
//   rope         as trained; "+linear", "+ntk", "+dynamic_ntk", "+yarn": the library's rules at the tested length,
//   factor
//                = length / training length; each also "+tuned": after a short fine-tune at the longest length
// A fine-tuned model keeps the rule it was tuned with, factor = longest / training length, at every tested length.
// dynamic_ntk is what its definition says: its factor is that same constant, but its base follows the length of the
// sequence at hand, so that within the training length nothing is stretched, tuned or not. "rope+tuned" has no rule:
// what the fine-tune does by itself.
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
