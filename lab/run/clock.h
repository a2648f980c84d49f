// SPDX-License-Identifier: Apache-2.0
// Times as the store and the results keep them.
#pragma once

#include <string>

namespace locus::lab {

double now();                       ///< seconds since 1970, UTC
std::string iso_time(double time);  ///< "2025-03-01T12:00:00Z"

/// When "90s", "30m", "12h" or "2d" from now have passed, or the time "2025-03-01T12:00:00Z" itself. Error for others.
double end_time(const std::string& text, double now);

}  // namespace locus::lab
