// SPDX-License-Identifier: Apache-2.0
// Raw deflate streams, by zlib where the build found it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace locus::io {

bool inflate_is_available();

/// Exactly `size` bytes, or locus::Error that starts with `subject`.
std::vector<std::byte> inflate(std::span<const std::byte> deflated, std::size_t size, const std::string& subject);

}  // namespace locus::io
