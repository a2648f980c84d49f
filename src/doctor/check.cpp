// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/check.h"

#include <utility>

namespace locus {

Check at_most(std::string name, std::string scheme, double value, double bound, std::string note) {
  return {std::move(name), std::move(scheme), value, bound, value <= bound, std::move(note)};
}

Check at_least(std::string name, std::string scheme, double value, double bound, std::string note) {
  return {std::move(name), std::move(scheme), value, bound, value >= bound, std::move(note)};
}

}  // namespace locus
