// SPDX-License-Identifier: Apache-2.0
// Helpers shared by the figures of the score site.
#pragma once

#include <string>
#include <vector>

#include "figures/registry.h"

namespace locus::figures {

/// Returns the requested heads, or at most `most` of all, evenly spaced. Error: a head that does not exist.
std::vector<std::int64_t> heads_of(const Request& request, std::int64_t heads, std::int64_t most);

/// Returns whether keys after the query are visible.
bool sees_future(const Encoding& encoding);

/// Formats `2^-3` or `2^-0.5` if exact, otherwise three digits.
std::string slope_text(double slope);

}  // namespace locus::figures
