// SPDX-License-Identifier: Apache-2.0
// The encodings that `locus verify` goes through when none is named.
#pragma once

#include <string>
#include <vector>

#include "locus/encoding.h"

namespace locus {

struct NamedEncoding {
  std::string name;  ///< the scheme, and what sets the variant apart: "rope rule=yarn"
  Encoding encoding;
};

/// Every scheme of the registry by its example, and the variants that make other claims or go other ways: each
/// frequency rule, the axes of pictures, the forms of ALiBi, a moving centre ...
std::vector<NamedEncoding> verification_panel();
/// Those of one scheme; Error naming the known schemes.
std::vector<NamedEncoding> verification_panel(std::string_view scheme);

}  // namespace locus
