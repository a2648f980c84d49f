// SPDX-License-Identifier: Apache-2.0
// Samples a text from the model, piece by piece, for measurements without a given text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "probe/model.h"
#include "probe/run_control.h"

namespace locus::probe {

struct SampledText {
  Token start = 0;                ///< first token of every piece
  std::vector<Token> stops = {};  ///< end a piece; not part of it
  std::int64_t tokens = 0;        ///< total number of tokens, at least 1
  std::uint64_t seed = 0;
};

/// Samples independent pieces at temperature 1 with the model's encoding, each at most as long as the trained length.
/// Returns fewer tokens if interrupted.
std::vector<Token> sample_text(const Model& model, const SampledText& wanted, const RunControl& control = {});

/// Returns what a measurement on such a text can and cannot show.
std::string_view sampled_text_caveat();

}  // namespace locus::probe
