// SPDX-License-Identifier: Apache-2.0
// Memory asked for before it is taken: a refusal with a number in place of a process that the system ends.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace locus::probe {

/// What this process may still take: the machine's available memory, or what its control group leaves, whichever is
/// less. Empty where the system does not tell.
std::optional<std::int64_t> available_memory();

/// Throws Error, naming `what`, the size needed and the size there is, where `bytes` do not fit.
void require_memory(std::string_view what, double bytes);
void require_memory(std::string_view what, double bytes, std::optional<std::int64_t> available);

}  // namespace locus::probe
