// SPDX-License-Identifier: Apache-2.0
// The names and notes of checks, which `locus verify` puts together from parts, in another language.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "messages/words.h"

namespace locus {

/// "norm_preserving: vectors keep their length, near 100", "shifted = whole (float32)". Absent where a part is no phrase.
std::optional<std::string> check_name(const Words& words, std::string_view english);

}  // namespace locus
