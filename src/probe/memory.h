// SPDX-License-Identifier: Apache-2.0
// Checks memory before it is allocated, so that the user gets an error with a number and not a killed process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace locus::probe {

/// Bytes that this process may still allocate: the machine's available memory or the rest of its control group's limit,
/// whichever is less. Empty where the system does not say.
std::optional<std::int64_t> available_memory();

/// Throws Error that names `what`, the bytes needed and the bytes available, where they do not fit.
void require_memory(std::string_view what, double bytes);
void require_memory(std::string_view what, double bytes, std::optional<std::int64_t> available);

}  // namespace locus::probe
