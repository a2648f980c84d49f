// SPDX-License-Identifier: Apache-2.0
// A text for measuring a model when there is none: what the model itself says, piece after piece.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "probe/model.h"
#include "probe/run_control.h"

namespace locus::probe {

struct SampledText {
  Token start = 0;                ///< in front of every piece
  std::vector<Token> stops = {};  ///< end a piece, and are not part of it
  std::int64_t tokens = 0;        ///< of all pieces together, at least 1
  std::uint64_t seed = 0;
};

/// Pieces drawn at temperature 1 under the model's own encoding, each begun anew and none longer than the trained
/// length. Fewer tokens where it is interrupted.
std::vector<Token> sample_text(const Model& model, const SampledText& wanted, const RunControl& control = {});

/// What a measurement on such a text can show and what it cannot.
std::string_view sampled_text_caveat();

}  // namespace locus::probe
