// SPDX-License-Identifier: Apache-2.0
// Measures the memory that a call uses while it runs.
#pragma once

#include <functional>
#include <optional>

namespace locus::bench {

/// Returns the peak growth of this process's resident memory during the call, in bytes, to within some pages. Empty
/// if the system does not report it (Linux with glibc does).
std::optional<double> extra_bytes_of(const std::function<void()>& call);

}  // namespace locus::bench
