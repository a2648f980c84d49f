// SPDX-License-Identifier: Apache-2.0
// The biases of all heads by offset, kept with an encoding whose bias is the output of a network.
#pragma once

#include "encoding/row_table.h"
#include "locus/site.h"

namespace locus {

/// Keeps the values of distances below 32,768. Several threads may call at once.
class BiasRows {
 public:
  explicit BiasRows(const ScoreBias& bias);

  /// The bias of a head at key - query, to 2^-47 of itself.
  double value(std::int64_t head, Position offset) const;

 private:
  const ScoreBias& bias_;
  RowTable past_, future_;  ///< by distance: [heads][high part, low part]
};

}  // namespace locus
