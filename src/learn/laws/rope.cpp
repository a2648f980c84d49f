// SPDX-License-Identifier: Apache-2.0
// rotate(x, positions), with either pairing.
#include "learn/laws/laws.h"
#include "learn/laws/rotation.h"

namespace locus::learn {
namespace {

void laws_of_rope(Solution& solution, bool half) {
  rotation::check_rotation(rotation::rope(half), half, 0, [&](const Array& x, const rotation::Ids& positions) {
    return solution.call("rotate", {x, Array::ids(positions)}, x.shape);
  });
}

}  // namespace

void laws_of_rope_interleaved(Solution& solution) { laws_of_rope(solution, false); }
void laws_of_rope_half(Solution& solution) { laws_of_rope(solution, true); }

}  // namespace locus::learn
