// SPDX-License-Identifier: Apache-2.0
// Checks the available memory before an allocation, so that the user gets an error message instead of a killed
// process.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace locus::probe {

/// Returns the bytes that this process may still allocate: the machine's available memory or the rest of the control
/// group's limit, whichever is less. Empty if unknown.
std::optional<std::int64_t> available_memory();

/// Error: more bytes than available; the message names `what`, the bytes needed and the bytes available.
void require_memory(std::string_view what, double bytes);
void require_memory(std::string_view what, double bytes, std::optional<std::int64_t> available);

}  // namespace locus::probe
