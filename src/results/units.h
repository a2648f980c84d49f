// SPDX-License-Identifier: Apache-2.0
// Formats durations and sizes in memory.
#pragma once

#include <string>

namespace locus::results {

/// Formats 3.4 s, 12 min 5 s, 2 h 3 min.
std::string duration(double seconds);
/// Formats 12 kB, 3.4 MB, 1.2 GB, in powers of 1000.
std::string bytes(double count);

}  // namespace locus::results
