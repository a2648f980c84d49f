// SPDX-License-Identifier: Apache-2.0
// Stretches an encoding beyond its trained length with a rule.
#pragma once

#include <cstdint>
#include <string_view>

#include "locus/encoding.h"

namespace locus {

/// Lengths in tokens.
struct Stretch {
  std::int64_t trained = 0;
  std::int64_t longest = 0;  ///< length to reach; 0: no factor is derived, `given` must hold it
};

/// Returns `encoding` under another frequency rule; widths, pairing, base, axes and profile stay. The rule's
/// parameters come from, in this order: `given`; `encoding`, if it has the same rule; factor = longest / trained, at
/// least 1, and the trained length; the rule's defaults. The result depends on the length if the rule does: see
/// at_length().
/// Error: an encoding without rules, a rule that needs more than these (LongRoPE its lists).
Encoding with_rule(const Encoding& encoding, std::string_view rule, const Stretch& stretch,
                   const Arguments& given = {});

/// Returns whether the encoding's scheme has frequency rules.
bool takes_rules(const Encoding& encoding);

}  // namespace locus
