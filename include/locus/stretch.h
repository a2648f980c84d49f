// SPDX-License-Identifier: Apache-2.0
// An encoding stretched by a rule beyond the length that it was trained with.
#pragma once

#include <cstdint>
#include <string_view>

#include "locus/encoding.h"

namespace locus {

/// Lengths in tokens.
struct Stretch {
  std::int64_t trained = 0;
  std::int64_t longest = 0;  ///< to be reached; 0: no factor is derived, `given` must hold it
};

/// `encoding` under another frequency rule: what it is (widths, pairing, base, axes, profile) stays. Parameters of the
/// rule are, in this order: those in `given`; those that `encoding` has under the same rule; factor = longest / trained,
/// at least 1; the trained length; the rule's defaults. Depends on the length where the rule does: see at_length().
/// Error where the encoding takes no rule, or the rule needs more than that (LongRoPE its lists).
Encoding under_rule(const Encoding& encoding, std::string_view rule, const Stretch& stretch,
                    const Arguments& given = {});

/// Whether the encoding's scheme has frequency rules.
bool takes_rules(const Encoding& encoding);

}  // namespace locus
