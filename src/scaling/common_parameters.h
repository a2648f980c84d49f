// SPDX-License-Identifier: Apache-2.0
// A parameter that means the same in several rules.
#pragma once

#include "locus/value.h"

namespace locus {

inline Parameter original_length_parameter(double least = 1) {
  return {.name = "original_length",
          .kind = ValueKind::integer,
          .meaning = "trained length",
          .required = true,
          .least = least,
          .most = 0x1p31};
}

}  // namespace locus
