// SPDX-License-Identifier: Apache-2.0
// Asks the doctor: what is wrong with these numbers, and do its own checks pass?
#pragma once

#include <string>
#include <vector>

#include "learn/value.h"
#include "locus/doctor/check.h"
#include "locus/encoding.h"

namespace locus::learn {

/// "fault." and the id of the fault that `diagnose` sees between `before` and `after` [tokens, heads, head_dim]; empty if
/// it sees none. With an encoding of the site hidden, `before` is [tokens, dim] without its rows.
std::string fault_of(const Encoding& expected, const Array& before, const Array& after,
                     const std::vector<std::int64_t>& ids);
/// The same for a bias [heads, queries, keys] whose last query is at the last key.
std::string fault_of_bias(const Encoding& expected, const Array& bias);

/// Throws BrokenLaw for the first check that failed: whatever the exercise's own laws do not see.
void require_passed(const std::vector<Check>& checks);

}  // namespace locus::learn
