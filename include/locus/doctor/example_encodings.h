// SPDX-License-Identifier: Apache-2.0
// The encodings that `locus verify` checks if none is named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "locus/encoding.h"

namespace locus {

struct NamedEncoding {
  std::string name;  ///< the scheme and the label of its example: "rope rule=yarn"
  Encoding encoding;
};

/// Returns the example and the variants of every scheme in the registry: each frequency rule, the axes of images, the
/// forms of ALiBi, a moving centre ...
std::vector<NamedEncoding> example_encodings();
/// Returns those of one scheme.
/// Error: an unknown scheme.
std::vector<NamedEncoding> example_encodings(std::string_view scheme);

/// Returns how many tokens, at most `wanted` and at least 1, may stand together: a table without clipping limits how far
/// apart they may be.
std::int64_t tokens_in_reach(const RelativeKeys& keys, std::int64_t wanted);

}  // namespace locus
