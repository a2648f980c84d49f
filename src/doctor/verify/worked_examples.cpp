// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/worked.h"
#include "locus/doctor/properties.h"

namespace locus {

std::vector<Check> verify_worked_examples() {
  std::vector<Check> checks;
  for (const auto& part : {doctor::three_tokens(), doctor::worked_sinusoids(), doctor::worked_rotations(),
                           doctor::worked_scores(), doctor::worked_positions()}) {
    checks.insert(checks.end(), part.begin(), part.end());
  }
  return checks;
}

}  // namespace locus
