// SPDX-License-Identifier: Apache-2.0
// Counts are signed, containers want unsigned.
#pragma once

#include <cstddef>
#include <cstdint>

namespace locus::doctor {

inline std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

}  // namespace locus::doctor
