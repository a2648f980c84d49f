// SPDX-License-Identifier: Apache-2.0
// Times in the store and the results.
#pragma once

#include <string>

namespace locus::lab {

double now();                       ///< seconds since 1970, UTC
std::string iso_time(double time);  ///< "2025-03-01T12:00:00Z"

/// Parses a time: "90s", "30m", "12h" or "2d" from now, or "2025-03-01T12:00:00Z". Error: any other text.
double end_time(const std::string& text, double now);

}  // namespace locus::lab
