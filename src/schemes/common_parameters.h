// SPDX-License-Identifier: Apache-2.0
// Parameters shared by several schemes.
#pragma once

#include "locus/value.h"

namespace locus {

inline Parameter heads_parameter() {
  return {.name = "heads",
          .kind = ValueKind::integer,
          .meaning = "number of heads",
          .required = true,
          .least = 1,
          .most = 65536};
}

inline Parameter key_heads_parameter() {
  Parameter heads = heads_parameter();
  heads.meaning = "number of key heads";
  return heads;
}

inline Parameter head_dim_parameter(double least) {
  return {.name = "head_dim",
          .kind = ValueKind::integer,
          .meaning = "width of a head",
          .required = true,
          .least = least,
          .most = 65536};
}

inline Parameter base_parameter(std::string_view meaning) {
  return {.name = "base",
          .kind = ValueKind::real,
          .meaning = meaning,
          .fallback = 10000.0,
          .least = 0,
          .above_least = true};
}

}  // namespace locus
