// SPDX-License-Identifier: Apache-2.0
// How much memory a call takes for itself while it runs.
#pragma once

#include <functional>
#include <optional>

namespace locus::bench {

/// The growth of this process's resident memory at its highest during the call, in bytes, to within some pages. Nothing
/// where the system does not tell (Linux with glibc does).
std::optional<double> extra_bytes_of(const std::function<void()>& call);

}  // namespace locus::bench
