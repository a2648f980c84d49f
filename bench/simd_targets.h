// SPDX-License-Identifier: Apache-2.0
// The SIMD targets of this CPU: which of them kernels and limits may use.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "measure.h"

namespace locus::bench {

/// Returns the targets that this CPU has and the library was compiled for, best first; only the narrower ones after
/// use_at_most().
std::vector<std::int64_t> simd_targets();
std::string_view target_name(std::int64_t target);

/// From now on kernels and limits use this target or narrower ones, as on a CPU that has no better one.
/// Error: a name that is not one of simd_targets().
void use_at_most(std::string_view name);

/// Returns a call that runs as on a CPU whose best target is this one.
std::function<void()> at_most(std::int64_t target, std::function<void()> call);

/// Returns the fastest of these forms of a limit at any vector width. The widest vectors are not always the fastest:
/// in a cache, in-place scaling by 256-bit vectors can be 1.2 times as fast as by 512-bit vectors.
std::function<void()> at_best_width(const std::vector<std::function<void()>>& forms, const Pairs& pairs);

}  // namespace locus::bench
