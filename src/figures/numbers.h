// SPDX-License-Identifier: Apache-2.0
// Numbers as they are read: few digits, thousands apart, units that fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace locus::figures {

/// `digits` significant ones, such as 0.0123, 12.3, 1.23e-07; "0" for nothing.
std::string significant(double value, int digits = 3);
/// With `decimals` behind the point.
std::string fixed(double value, int decimals);
/// 12,345.
std::string grouped(std::int64_t value);
/// 3.4 s, 12 min 5 s, 2 h 3 min.
std::string duration(double seconds);
/// 12 kB, 3.4 MB, 1.2 GB, in powers of 1000.
std::string bytes(double count);

}  // namespace locus::figures
