// SPDX-License-Identifier: Apache-2.0
// Parameters shared by several rules.
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

/// ggml's name; jquesnelle/yarn and vLLM call it extrapolation_factor.
inline Parameter ext_factor_parameter() {
  return {.name = "ext_factor",
          .kind = ValueKind::real,
          .meaning = "share of the fast frequencies that is kept; the rest is treated as slow (Grok: 0.5)",
          .fallback = 1.0,
          .least = 0,
          .most = 1};
}

}  // namespace locus
