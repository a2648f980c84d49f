// SPDX-License-Identifier: Apache-2.0
#include "locus/turn_output.h"

#include "locus/error.h"

namespace locus {

bool turns_output(const Encoding& encoding) {
  const auto* rotation = std::get_if<Rotation>(&encoding.term());
  return rotation != nullptr && rotation->turns_output;
}

void turn_output(const Encoding& encoding, const HeadsView& output, const PositionIds& ids, Executor* executor) {
  require(turns_output(encoding), "turn_output: ", encoding.scheme().name, " does not turn the output of attention");
  rotate(encoding, output, ids, Role::key, Direction::inverse, executor);
}

}  // namespace locus
